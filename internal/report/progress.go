package report

import (
	"sync"
)

// A Phase is what a run is doing.
type Phase int

// The phases of a run, in their order. Those that the options and the recording do not
// ask for are passed over.
const (
	PhaseOpen    Phase = iota // opening files
	PhaseSurvey               // walking the recording; bytes of it
	PhaseScan                 // walking one dump after the other; bytes of each
	PhaseSamples              // walking the recording again, for its samples; bytes of it
	PhaseObjects              // making objects; functions
	PhaseWrite                // writing the result; bytes of the recording, and of traces
	PhaseStream               // doing all of this at once, while a stream comes; bytes of it
	PhaseUndo                 // taking back what was made, because of an error; files
)

// PhaseNone is that of a walk beside another one, which nobody follows.
const PhaseNone Phase = -1

// String says what is done, in the words of a message.
func (p Phase) String() string {
	switch p {
	case PhaseOpen:
		return "opening"
	case PhaseSurvey:
		return "reading the recording"
	case PhaseScan:
		return "reading dumps"
	case PhaseSamples:
		return "reading samples"
	case PhaseObjects:
		return "making objects"
	case PhaseWrite:
		return "writing the result"
	case PhaseStream:
		return "injecting"
	case PhaseUndo:
		return "taking back what was made"
	}
	return "working"
}

// A ProgressState says how far a phase is.
type ProgressState struct {
	Phase Phase
	Done  int64 // in the unit of the phase
	Total int64 // of those, or 0 if that is not known, as with a stream
}

// A Progress tells how far a run is to whoever asks, from any goroutine and whenever
// they like. The engine brings it up to date after each block of some 256 KiB and after
// some dozen functions, which costs nothing that could be measured, and allocates
// nothing. Its zero value is ready; it belongs to one run.
type Progress struct {
	mu     sync.Mutex
	now    ProgressState
	beside ProgressState // what is read beside that walk
	writes bool
}

// Writes reports whether the run has begun to make files. When it is cancelled it takes
// them back, which may take as long as making them did: who ends the program before Run
// returns leaves them behind.
func (p *Progress) Writes() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes
}

// Write says that files are made from now on.
func (p *Progress) Write() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.writes = true
	p.mu.Unlock()
}

// State returns how far the run is.
func (p *Progress) State() ProgressState {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now
	now.Done += p.beside.Done
	if now.Total > 0 {
		now.Total += p.beside.Total
	}
	return now
}

// Begin enters a phase. Nobody may want to know: p may be nil.
func (p *Progress) Begin(phase Phase, total int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.now, p.beside = ProgressState{Phase: phase, Total: total}, ProgressState{}
	p.mu.Unlock()
}

// Set says how much is done.
func (p *Progress) Set(done int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.now.Done = done
	p.mu.Unlock()
}

// Add says that more is done.
func (p *Progress) Add(n int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.now.Done += n
	p.mu.Unlock()
}

// ReadBeside says how much was read of what goes into the result beside the recording.
func (p *Progress) ReadBeside(done, total int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.beside.Done, p.beside.Total = done, total
	p.mu.Unlock()
}
