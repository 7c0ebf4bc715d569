package report

import "sync"

// A Phase is a part of a run.
type Phase int

// The phases of a run are in their order. A run skips those that its options and its recording do
// not need.
const (
	PhaseOpen    Phase = iota // opening files
	PhaseSurvey               // walking the recording; bytes of it
	PhaseScan                 // walking one dump after the other; bytes of each
	PhaseLogs                 // reading one log after the other, of V8; bytes of each
	PhaseCode                 // reading code from core dumps, processes and files; no amount
	PhaseSamples              // walking the recording again, for its samples; bytes of it
	PhasePlan                 // planning objects and mappings; no amount
	PhaseObjects              // making objects; functions
	PhaseWrite                // writing the result; bytes of the recording, and of traces
	PhaseSync                 // waiting until the files are on the disk; no amount
	PhaseStream               // copying a pipe, before the survey; bytes of it
	PhaseUndo                 // removing what was made, because of an error; files
)

// PhaseNone is the phase of a walk beside another one. Its progress is not reported.
const PhaseNone Phase = -1

// IsInput reports whether the recording has not come yet: it is opened, or a pipe is copied.
func (p Phase) IsInput() bool { return p == PhaseOpen || p == PhaseStream }

// phases describe the phases for messages, and say which have an amount.
var phases = [...]struct {
	text      string
	isCounted bool
}{
	PhaseOpen:    {"opening", false},
	PhaseSurvey:  {"reading the recording", true},
	PhaseScan:    {"reading dumps", true},
	PhaseLogs:    {"reading logs", true},
	PhaseCode:    {"reading code", false},
	PhaseSamples: {"reading samples", true},
	PhasePlan:    {"planning objects", false},
	PhaseObjects: {"making objects", true},
	PhaseWrite:   {"writing the result", true},
	PhaseSync:    {"waiting for the disk", false},
	PhaseStream:  {"copying the pipe", true},
	PhaseUndo:    {"removing new files", true},
}

// String returns a description of the phase for messages.
func (p Phase) String() string {
	if p < 0 || int(p) >= len(phases) {
		return "working"
	}
	return phases[p].text
}

// IsCounted reports whether the phase has an amount. Done and Total are 0 in others.
func (p Phase) IsCounted() bool { return p < 0 || int(p) >= len(phases) || phases[p].isCounted }

// A ProgressState says how far a phase is.
type ProgressState struct {
	Phase Phase
	Done  int64 // in the unit of the phase
	Total int64 // in the same unit; 0 if it is unknown, as with a pipe
}

// A Progress says how far a run is. Any goroutine may read it, at any time. The run updates it
// after each block of some 256 KiB and after some dozen functions. That has no measurable cost
// and allocates nothing. The zero value is ready. It belongs to one run.
type Progress struct {
	mu       sync.Mutex
	now      ProgressState
	beside   ProgressState // data that is read in addition to the recording
	writes   bool          // the run has begun to make files
	finished bool          // the result is complete
}

// Writes reports whether the run has begun to make files. When the run is cancelled, it removes
// them. That may take as long as making them did. If the program ends before Run returns, the
// files stay.
func (p *Progress) Writes() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes
}

// Write records that files are made from now on.
func (p *Progress) Write() { p.update(func() { p.writes = true }) }

// Finished reports whether the result is complete: its last byte is written, and durable where that
// was asked for.
func (p *Progress) Finished() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.finished
}

// Finish records that the result is complete.
func (p *Progress) Finish() { p.update(func() { p.finished = true }) }

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

// Begin begins a phase. total is its size in its unit, or 0.
func (p *Progress) Begin(phase Phase, total int64) {
	p.update(func() { p.now, p.beside = ProgressState{Phase: phase, Total: total}, ProgressState{} })
}

// Set sets how much of the phase is done.
func (p *Progress) Set(done int64) { p.update(func() { p.now.Done = done }) }

// Add adds n to what is done.
func (p *Progress) Add(n int64) { p.update(func() { p.now.Done += n }) }

// ReadBeside sets how much was read of data that goes into the result in addition to the
// recording.
func (p *Progress) ReadBeside(done, total int64) {
	p.update(func() { p.beside.Done, p.beside.Total = done, total })
}

// update changes p under its lock. p may be nil.
func (p *Progress) update(change func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}
