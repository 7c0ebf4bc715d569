package model

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/source"
)

// A Dump is a side file together with its process.
type Dump struct {
	Path    string             // where it was found
	Live    bool               // the path vanishes with the process
	Note    string             // why this file was chosen, or ""
	Assumed string             // what was assumed of its times against its header, or ""
	PID     uint32             // the process in the recording that mapped it
	Markers []recording.Marker // mappings that name it; that of PID comes first
	// File is open until the end of the run.
	File   *sys.File
	Source source.Dump
	Clock  func(uint64) uint64 // converts its times into the recording's, in nanoseconds
	Match  report.Clock        // how Clock was found

	// LeftOut has the functions that cannot be told from others without a clock. They are
	// dropped.
	LeftOut map[int]bool
	// Fill bounds the bytes in place of the unknown code of a function, in an object.
	Fill uint64

	// Unmapped has entries of the dump that look like functions and are none, or are in better sources.
	Unmapped map[int]bool
	// Parts has, by function, the descriptions of the same code in other sources of its process, the most
	// trusted first.
	Parts  map[int][]Part
	Others []source.Dump // the sources of the parts

	CodeFiles int // number of files of Options.CodeFrom that are of its process
	// Late is the number of functions that were loaded after all of those files were made.
	Late int

	Logs []report.LogSummary // logs that describe its functions
	// Unlogged is the number of its functions that have no inlined calls because they are in no log.
	Unlogged int

	Number  int    // index of its line in the summary
	Objects string // the directory for its objects, absolute
}

// HasTimes reports whether the times of the dump's functions are known.
func (d *Dump) HasTimes() bool {
	return d.Match.Kind != report.ClockNone && d.Match.Kind != report.ClockStart
}

// KnowsMachine fails if the machine of the dump's code is unknown.
func (d *Dump) KnowsMachine() error {
	if d.Source.Target().Machine != uint32(elf.EM_NONE) {
		return nil
	}
	err := errors.New("neither it nor the recording says what machine its code is for")
	return report.Advise(err, "%s", cmp.Or(d.Source.Traits().MachineAdvice, "record into a file: perf record -o FILE"))
}

// Noun returns what the file of the dump is, for messages.
func (d *Dump) Noun() string {
	if d.Source.Traits().Registered {
		return "memory"
	}
	return "dump"
}

// MarkersOf returns the markers of dumps.
func MarkersOf(dumps []*Dump) (markers []*recording.Marker) {
	for _, d := range dumps {
		for i := range d.Markers {
			markers = append(markers, &d.Markers[i])
		}
	}
	return markers
}

// AdviceDamage returns advice about damage in its file.
func (d *Dump) AdviceDamage() string {
	if d.Source.Traits().Unchecked {
		return report.AdviceDamage(d.Path)
	}
	return report.AdviceVerify(d.Path)
}

// Damage returns the problem of damage in its file. offset is in bytes, or -1.
func (d *Dump) Damage(offset int64, text string) report.Problem {
	return report.Problem{Code: report.ProblemDamage, File: d.Path, Offset: offset, Text: text, Advice: d.AdviceDamage()}
}

// MoreDamage returns the problem that stands for n more of the kind of Damage.
func (d *Dump) MoreDamage(n int) report.Problem {
	return d.Damage(-1, fmt.Sprintf("%d more problems like these", n))
}

// NoteAssumed adds a note with what was assumed of the dump's times, if anything was.
func (d *Dump) NoteAssumed(found *report.Findings) {
	if d.Assumed != "" {
		found.Note(quote.Printable(d.Path) + ": " + d.Assumed)
	}
}

// Bytes returns the size of the dump's first file, or 0 if it is unknown.
func (d *Dump) Bytes() int64 {
	if d.File == nil {
		return 0
	}
	info, err := d.File.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// MostDumps bounds the dumps of one process for which functions share objects: each is compared with each.
const MostDumps = 256

// HasFewDumps reports whether no process has more than MostDumps.
func HasFewDumps(dumps []*Dump) bool {
	of := make(map[uint32]int)
	return !slices.ContainsFunc(dumps, func(d *Dump) bool {
		of[d.PID]++
		return of[d.PID] > MostDumps
	})
}

// OtherFiles returns the paths of a dump's files other than its first.
func (d *Dump) OtherFiles() (paths []string) {
	if g, ok := d.Source.(source.Group); ok {
		paths = g.Paths()
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == d.Path })
}

// Fits compares the addresses of a dump with the executable memory of the processes that mapped
// it, and of those related to them. Code in files does not count: V8 describes its builtins,
// which lie at one address in every process. Where records were lost, Fits refutes nothing.
func (d *Dump) Fits(rec *recording.Recording) recording.Confidence {
	memory, events, known := rec.RelatedMemory(d.Markers), d.Source.Scanned().Events, false
	for _, m := range d.Markers {
		known = known || rec.KnowsMemory(m)
	}
	inside, outside := CountIn(d.Source.Scanned(), memory.Memory), len(events)-CountIn(d.Source.Scanned(), memory.Executable)
	switch {
	case known && inside == 0 && outside > 0:
		return recording.Refuted
	case inside > outside:
		return recording.Confirmed
	}
	return recording.Possible
}

// CountIn returns how many events have an address in some ranges, which are in order and disjoint.
func CountIn(l *source.Listing, ranges recording.Ranges) (n int) {
	if len(l.Events) < len(ranges) {
		for i := range l.Events {
			if ranges.Hold(l.Events[i].Addr) {
				n++
			}
		}
		return n
	}
	for _, r := range ranges {
		n += l.EventIndex().Between(r.Lo, r.Hi)
	}
	return n
}

// IsSampled reports whether the recording is known to have samples in functions of the dump.
func (d *Dump) IsSampled(rec *recording.Recording) bool {
	var pids []uint32
	for _, m := range d.Markers {
		pids = append(pids, m.PID)
	}
	slices.Sort(pids)
	var ips []uint64
	for _, pid := range slices.Compact(pids) {
		for _, s := range rec.Histogram.Of(pid) {
			ips = append(ips, s.IP)
		}
	}
	slices.Sort(ips)
	if len(ips) == 0 {
		return false
	}
	for _, e := range d.Source.Scanned().Events {
		if i, _ := slices.BinarySearch(ips, e.Addr); i < len(ips) && ips[i]-e.Addr < e.Size && !d.Unmapped[int(e.Function)] {
			return true
		}
	}
	return false
}

// mostFill and fillPerByte bound the bytes in place of unknown code in all objects of a dump: by its size.
const (
	mostFill    = 16 << 20
	fillPerByte = 16
)

// SetFill sets Fill by the events. Maps and logs may claim any number of large functions. Readers that disassemble
// these bytes need a few.
func (d *Dump) SetFill() {
	all, most, events := uint64(0), mostFill+fillPerByte*uint64(d.Bytes()), d.Source.Scanned().Events
	for i := range events {
		all += min(events[i].Size, jitobj.MaxFill)
	}
	if d.Fill = jitobj.MaxFill; all > most {
		d.Fill = max(most/uint64(len(events)), 64)
	}
}
