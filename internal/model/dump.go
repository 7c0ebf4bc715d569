package model

import (
	"debug/elf"
	"errors"
	"os"
	"slices"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// A Dump is a side file with the process it is about.
type Dump struct {
	Path    string             // where it was found
	Live    bool               // that path is gone when the process is
	Note    string             // why this file was taken, if that needs to be said
	Untimed bool               // it had no times when its clock was matched
	Assumed string             // what was assumed of its times against its header, or ""
	PID     uint32             // the process in the recording that mapped it
	Markers []recording.Marker // that named it; the first is that process's
	File    *os.File
	Source  source.Dump
	Clock   func(uint64) uint64 // from its times to the recording's
	Match   report.Clock        // how that was found

	LeftOut  map[int]bool // functions that cannot be told from others without a clock
	Unmapped map[int]bool // what is said to be functions, and is not

	CodeFiles int // of Options.CodeFrom that are of its process
	Late      int // functions that were loaded when all of them had been made

	Number  int    // of its line in the summary
	Objects string // the directory for its objects, absolute
	Placed  int    // source files that have been written
}

// KnowsMachine fails if it is unknown what machine the dump's code is for.
func (d *Dump) KnowsMachine() error {
	if d.Source.Target().Machine != uint32(elf.EM_NONE) {
		return nil
	}
	err := errors.New("neither it nor the recording says what machine its code is for")
	if a, ok := d.Source.(interface{ AdviseMachine() string }); ok {
		return report.Advise(err, "%s", a.AdviseMachine())
	}
	return report.Advise(err, "record into a file: perf record -o FILE")
}

// NoteAssumed says what was assumed of the dump's times.
func (d *Dump) NoteAssumed(found *report.Findings) {
	if d.Assumed != "" {
		found.Note(quote.Printable(d.Path) + ": " + d.Assumed)
	}
}

// OtherFiles are the paths of a dump's files beside its first.
func (d *Dump) OtherFiles() (paths []string) {
	if g, ok := d.Source.(source.Group); ok {
		paths = g.Paths()
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == d.Path })
}

// Fits compares the addresses of a dump with where the processes that mapped it,
// and those related to them, had executable memory. Code in files counts for
// nothing: V8 describes its builtins, which lie at one place in every process. Where
// records were lost, nothing is refuted.
func (d *Dump) Fits(rec *recording.Recording) recording.Confidence {
	family := rec.Related(d.Markers)
	known, inside, outside := false, 0, 0
	for _, m := range d.Markers {
		known = known || rec.KnowsMemory(m)
	}
	events := d.Source.Scanned().Events
	for i := 0; i < len(events); i += 1 + len(events)/recording.MaxProbes {
		addr := events[i].Addr
		switch {
		case slices.ContainsFunc(family, func(p *recording.Process) bool { return p.Memory.Hold(addr) }):
			inside++
		case !slices.ContainsFunc(family, func(p *recording.Process) bool { return p.Files.Hold(addr) }):
			outside++
		}
	}
	switch {
	case known && inside == 0 && outside > 0:
		return recording.Refuted
	case inside > outside:
		return recording.Confirmed
	}
	return recording.Possible
}
