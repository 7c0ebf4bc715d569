package stays

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A Life is what the recording knows of a process that bounds the times of its logs.
type Life struct {
	rec    *recording.Recording
	pid    uint32
	start  uint64 // of its last program; 0 if it began before the recording
	end    int64  // of the process, or never
	steady bool   // the recording's clock is CLOCK_MONOTONIC
	// known says that all its executable memory is known. Then executable has it, with files, and maps that
	// without, by time. line finds the first of maps at an address.
	known      bool
	executable recording.Ranges
	maps       []recording.FileMap
	line       *addrs.Timeline
	starts     *recording.Starts
	samples    []sampled // in memory without a file, by address

	only, onlyOf []*cover // see onlyCovers
}

// A sampled is an address with the times of its first and last sample, in nanoseconds.
type sampled struct {
	ip          uint64
	first, last int64
	n           int64 // number of samples
}

// LifeOf returns the life of a process.
func LifeOf(rec *recording.Recording, pid uint32) *Life {
	tree, p := &rec.ProcessTree, rec.Processes[pid]
	f := &Life{rec: rec, pid: pid, start: tree.Program(pid, recording.LatestTime).Since, end: never}
	f.steady = rec.ClockError() == ""
	f.starts = recording.StartsOf(rec, pid, recording.LatestTime)
	all, complete := rec.MapsOf([]recording.Marker{{PID: pid, Time: rec.ProgramStart(pid, 0)}})
	f.known = complete && rec.KnowsMemory(recording.Marker{PID: pid, Time: rec.ProgramStart(pid, 0)})
	for _, m := range all {
		if m.Name == "" {
			f.maps = append(f.maps, m)
		}
	}
	sorting.Stable(f.maps, func(a, b recording.FileMap) int { return cmp.Compare(a.Time, b.Time) })
	ranges := make([]addrs.Range, len(f.maps))
	for i := range f.maps {
		ranges[i] = addrs.Range{Lo: f.maps[i].Lo, Hi: f.maps[i].Hi}
	}
	f.line = addrs.NewTimeline(ranges)
	f.executable = recording.ExactRanges(all, func(*recording.FileMap) bool { return true })
	last := uint64(0)
	for _, s := range rec.Histogram.Of(pid) {
		last = max(last, s.Last)
		if s.Last < recording.LatestTime && s.First >= f.start && f.mapped(s.IP) >= 0 {
			f.samples = append(f.samples, sampled{s.IP, int64(s.First), int64(s.Last), s.N})
		}
	}
	sorting.By(f.samples, func(a, b sampled) int { return cmp.Compare(a.ip, b.ip) })
	if p.Exited > 0 && rec.Histogram != nil && !rec.Histogram.Over && last < recording.LatestTime { // other threads may end later
		f.end = int64(max(p.Exited, last))
	}
	return f
}

// mapped returns the index of the first mapping of memory at an address, or a negative number.
func (f *Life) mapped(addr uint64) int {
	return f.line.First(addrs.Range{Lo: addr, Hi: addr + 1}, 0, len(f.maps))
}

// drift bounds how much a time of a log may differ in the recording's clock.
func (f *Life) drift(time uint64) int64 {
	if f.steady {
		return 0
	}
	return int64(time / maxDrift)
}

// holds reports whether code may be at an address.
func (f *Life) holds(c *Code, addr uint64) bool {
	if !f.known {
		return !c.Bytecode
	}
	return f.executable.Hold(addr)
}

// ErrNoCode is the error of a log without machine code, as V8 writes it beside a dump or a perf map.
var ErrNoCode = errors.New("it has no code")

// Fits fails if the code of a log cannot be of the process, by its places.
func (f *Life) Fits(l *Log) error {
	if !f.known {
		return nil
	}
	inside, outside := 0, 0
	for i := range l.Stays {
		switch s := &l.Stays[i]; {
		case l.Codes[s.Code].Bytecode:
		case f.mapped(s.Addr) >= 0:
			inside++
		case !f.executable.Hold(s.Addr):
			outside++
		}
	}
	switch {
	case inside+outside == 0:
		return ErrNoCode
	case inside <= outside:
		return fmt.Errorf("its code does not lie where process %d had executable memory: it is of another run", f.pid)
	}
	return nil
}

// mostSamples is the share of samples in memory for code that a log without the name of its process must describe,
// in percent.
const mostSamples = 90

// IsDescribed reports whether a log has code for nearly all samples in memory for code.
func (f *Life) IsDescribed(l *Log) bool {
	all, described := int64(0), int64(0)
	for i, only := range f.onlyCovers(f.covers(l)) {
		at := &f.samples[i]
		if all += at.n; only != nil {
			described += at.n
		}
	}
	return all > 0 && described*100 >= all*mostSamples
}

// slack is a difference between the clocks of file systems and of recordings that proves nothing, and strictly one
// between two files.
const (
	slack    = 2 * time.Second
	strictly = 20 * time.Millisecond
)

// isFixed reports whether the kernel does not randomize the addresses of the process: then Linux puts the first
// libraries of all programs here, on x86-64 and on arm64.
func (f *Life) isFixed() bool {
	return slices.ContainsFunc(f.rec.Processes[f.pid].FileMaps, func(m recording.FileMap) bool {
		return m.Lo>>32 == 0x7fff && m.Lo>>24&0xff == 0xf7 || m.Lo>>32 == 0xffff && m.Lo>>24&0xff == 0xf7
	})
}

// HasRandomAddresses reports whether code of another run cannot lie where the process has its code.
func (f *Life) HasRandomAddresses() bool { return f.known && !f.isFixed() }

// Distinguishes reports whether a log that fits the process cannot be of another one: its addresses are random, or the
// time of the file proves it.
func (f *Life) Distinguishes() bool { return !f.isFixed() || f.end < never && f.isOriginal() }

// isOriginal reports whether the recording is no copy, as far as its time tells: nor are the files beside it, then.
func (f *Life) isOriginal() bool {
	latest, ok := f.rec.TimeOfDay(f.rec.Latest)
	info := f.rec.In.Info
	return ok && info != nil && info.Mode().IsRegular() && info.ModTime().Sub(latest).Abs() <= slack
}

// WrittenAt returns the time of the recording after which a file was not written, or never. later says that it was
// written when its process had ended, and is of a later run. Copies of files tell nothing, but perf ends its file
// when a process that it started has ended.
func (f *Life) WrittenAt(modified time.Time) (written int64, later bool) {
	zero, ok := f.rec.TimeOfDay(0)
	info := f.rec.In.Info
	if !ok || modified.Year() <= 1970 {
		return never, false
	}
	written = int64(modified.Add(slack).Sub(zero))
	if f.end == never || info == nil || !info.Mode().IsRegular() {
		return written, false
	}
	allowed := slack
	if f.isOriginal() {
		allowed = strictly
	}
	latest := info.ModTime()
	if end := zero.Add(time.Duration(f.end)); end.After(latest) {
		latest = end
	}
	return written, modified.Sub(latest) > allowed
}

// Longest returns the longest time that an isolate of the process has a log, which was not written after a time.
func (f *Life) Longest(written int64) uint64 {
	longest := min(f.end, written) - int64(f.start)
	return uint64(max(longest+f.drift(uint64(longest)), 1))
}

// Began returns when the last program of the process began, or 0 if that was before the recording.
func (f *Life) Began() uint64 { return f.start }

// IsSteady reports whether the times of the recording are those of jitdumps.
func (f *Life) IsSteady() bool { return f.steady }

// Misses reports whether samples are in memory for code that none of the functions describes.
func (f *Life) Misses(described *Loads) bool {
	return slices.ContainsFunc(f.samples, func(at sampled) bool { return ownerAt(&described.cover.first, at.ip) < 0 })
}
