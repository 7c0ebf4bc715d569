package inject

import "github.com/jitinject/jitinject/internal/report"

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

// String returns a description of the phase for messages.
func (p Phase) String() string { return report.Phase(p).String() }

// IsCounted reports whether the phase has an amount. Done and Total are 0 in others.
func (p Phase) IsCounted() bool { return report.Phase(p).IsCounted() }

// A ProgressState says how far a phase is.
type ProgressState struct {
	// Phase is the current phase.
	Phase Phase
	Done  int64 // in the unit of the phase
	Total int64 // in the same unit; 0 if it is unknown, as with a pipe
}

// A Progress says how far a run is. Any goroutine may read it, at any time. The run updates it
// after each block of some 256 KiB and after some dozen functions. That has no measurable cost
// and allocates nothing. The zero value is ready. It belongs to one run.
type Progress struct{ engine report.Progress }

// State returns how far the run is.
func (p *Progress) State() ProgressState {
	s := p.engine.State()
	return ProgressState{Phase: Phase(s.Phase), Done: s.Done, Total: s.Total}
}

// Writes reports whether the run has begun to make files. When the run is cancelled, it removes
// them. That may take as long as making them did. If the program ends before Run returns, the
// files stay.
func (p *Progress) Writes() bool { return p.engine.Writes() }

// Finished reports whether the result is complete: its last byte is written, and durable where that
// was asked for.
func (p *Progress) Finished() bool { return p.engine.Finished() }
