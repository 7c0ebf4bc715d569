package inject

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/jitinject/jitinject/perfdata"
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

// phaseNone is that of a walk beside another one, which nobody follows.
const phaseNone Phase = -1

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

// write says that files are made from now on.
func (p *Progress) write() {
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

// begin enters a phase. Nobody may want to know: p may be nil.
func (p *Progress) begin(phase Phase, total int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.now, p.beside = ProgressState{Phase: phase, Total: total}, ProgressState{}
	p.mu.Unlock()
}

// set says how much is done.
func (p *Progress) set(done int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.now.Done = done
	p.mu.Unlock()
}

// add says that more is done.
func (p *Progress) add(n int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.now.Done += n
	p.mu.Unlock()
}

// readBeside says how much was read of what goes into the result beside the recording.
func (p *Progress) readBeside(done, total int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.beside.Done, p.beside.Total = done, total
	p.mu.Unlock()
}

// functions counts the functions of a plan.
func (p *plan) functions() (n int) {
	for i := range p.objects {
		if b := p.objects[i].bundle; b != nil {
			n += len(b.members)
		} else {
			n++
		}
	}
	return n
}

// A pass follows a walk over the recording.
type pass struct {
	progress *Progress
	file     *perfdata.BlockReader // nil where there are several files
}

// pass begins to follow a walk.
func (in *input) pass(phase Phase, blocks perfdata.Stream) pass {
	if in.progress == nil || phase == phaseNone {
		return pass{}
	}
	p := pass{progress: in.progress}
	var total int64
	switch {
	case in.once:
	case in.dirNames == nil:
		p.file, _ = blocks.(*perfdata.BlockReader)
		total = in.info.Size()
		if in.file != nil {
			total = int64(in.file.Header.Data.Offset + in.file.Header.Data.Size)
		}
	case in.file == nil || !in.file.Header.Features.Has(perfdata.FeatureCompressed):
		for _, name := range in.dirNames {
			if st, err := os.Stat(filepath.Join(in.path, filepath.Base(name))); err == nil {
				total += st.Size()
			}
		}
	}
	in.progress.begin(phase, total)
	return p
}

// read takes note of a block that has been read.
func (p *pass) read(b *perfdata.Block) {
	if p.file != nil {
		p.progress.set(p.file.Offset()) // also past what was not looked at
	} else {
		p.progress.add(int64(len(b.Data)))
	}
}
