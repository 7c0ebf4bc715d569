package engine_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// The rules of RATIONALE.md (Clocks), case by case: the flag of the header, the clock of the
// recording, TIME_CONV, and what the dump's times count.

const (
	second   = 1000 * ms
	tableRun = 30 * second // the life of the process
	slept    = 3600 * second
)

// A tableClock is a clock of the machine: its time when CLOCK_MONOTONIC has one.
type tableClock struct {
	id  int32 // for -k
	now func(monotonic uint64) uint64
}

// tableClocks are the clocks of recordings, by the value of -k.
var tableClocks = map[string]tableClock{
	"none":     {-1, func(t uint64) uint64 { return t - 3*second }},
	"mono":     {1, same},
	"mono_raw": {4, func(t uint64) uint64 { return t - 260*ms }},
	"boottime": {7, func(t uint64) uint64 { return t + slept }},
	"realtime": {0, wall},
	"tai":      {11, func(t uint64) uint64 { return wall(t) + 37*second }},
}

// conversion is TIME_CONV of a counter of 2.5 GHz: shift, factor, zero.
var conversion = []uint64{31, (1 << 32) / 5, 0}

// counts is the counter of the processor.
func counts(monotonic uint64) uint64 { return tableClocks["none"].now(monotonic) / 2 * 5 }

// tableTimes are what the times of dumps count. With the clocks in from, they are found to be of no clock, and
// functions are there from the start.
var tableTimes = []struct {
	name  string
	of    func(monotonic uint64) uint64
	start string
}{
	{"ns", same, ""},
	{"ns of mono_raw", tableClocks["mono_raw"].now, ""},
	{"ns of mono_raw, ahead", func(t uint64) uint64 { return t + 260*ms }, ""},
	{"ns of boottime", tableClocks["boottime"].now, "none mono mono_raw"},
	{"ns of realtime", wall, ""},
	{"ns of tai", tableClocks["tai"].now, ""},
	{"100 ns", func(t uint64) uint64 { return t / 100 }, ""},
	{"µs", func(t uint64) uint64 { return t / 1e3 }, ""},
	{"ms", func(t uint64) uint64 { return t / 1e6 }, ""},
	{"s", func(t uint64) uint64 { return t / 1e9 }, ""},
	{"µs of realtime", func(t uint64) uint64 { return wall(t) / 1e3 }, ""},
	{"ms of realtime", func(t uint64) uint64 { return wall(t) / 1e6 }, ""},
	{"s of realtime", func(t uint64) uint64 { return wall(t) / 1e9 }, ""},
	{"counts", counts, "none mono mono_raw boottime realtime tai"}, // unless there is TIME_CONV
	{"zero", func(uint64) uint64 { return 0 }, "none mono mono_raw boottime realtime tai"},
	{"zero at first", func(t uint64) uint64 {
		if t < sinceBoot+second {
			return 0
		}
		return t
	}, ""},
	{"since the start", func(t uint64) uint64 { return t - sinceBoot + 1000 }, "none mono mono_raw"},
	{"ten minutes before", func(t uint64) uint64 { return t - 600*second }, "none mono mono_raw"},
	{"a day after", func(t uint64) uint64 { return t + 86400*second }, "none mono mono_raw boottime"},
}

// A cell is one combination.
type cell struct {
	flags jitdump.Flags
	k     string
	conv  bool
	times int // index of tableTimes
}

func (c cell) String() string {
	return fmt.Sprintf("flags %#x, -k %s, TIME_CONV %v, %s", uint64(c.flags), c.k, c.conv, tableTimes[c.times].name)
}

// isStart reports whether functions are expected to be there from the start.
func (c cell) isStart() bool {
	times := &tableTimes[c.times]
	if times.name == "counts" && c.conv {
		return false
	}
	return strings.Contains(" "+times.start+" ", " "+c.k+" ")
}

// world makes the recording and the dump of a cell: four functions at places of their own, and two at
// one place.
func (c cell) world(t *testing.T) *world {
	w := newWorld(t)
	clock := tableClocks[c.k]
	w.ClockID = clock.id
	if c.conv {
		data := make([]byte, 24)
		for i, v := range conversion {
			binary.LittleEndian.PutUint64(data[8*i:], v)
		}
		w.Raw(79, 0, data)
	}
	at := func(offset uint64) uint64 { return clock.now(sinceBoot + offset) }
	var recs []timed
	loaded := func(offset, addr uint64, name string) {
		recs = append(recs, load(tableTimes[c.times].of(sinceBoot+offset), flaggedPID, uint64(len(recs)), addr, name, code(64, byte(len(recs)))))
	}
	loads := map[string]uint64{"func0": 5 * ms, "func1": 7 * second, "func2": 14 * second, "func3": 21 * second, "early": 3 * second, "late": 17 * second}
	for _, f := range []struct {
		name string
		addr uint64
	}{{"func0", 0x10000}, {"early", 0x50000}, {"func1", 0x20000}, {"func2", 0x30000}, {"late", 0x50000}, {"func3", 0x40000}} {
		loaded(loads[f.name], f.addr, f.name)
	}
	h := x86(flaggedPID)
	h.Flags = c.flags
	w.dump(flaggedDump, h, recs...)
	var file unix.Stat_t
	if err := unix.Stat(w.path(flaggedDump), &file); err != nil {
		t.Fatal(err)
	}
	w.Major, w.Minor = unix.Major(file.Dev), unix.Minor(file.Dev)
	w.Comm(flaggedPID, at(0)-1, "prog", true)
	w.FileMmap2(flaggedPID, at(0), 0x7f0000000000, 0x1000, 0, w.path(flaggedDump), file.Ino)
	w.Mmap2(flaggedPID, at(ms), 0x10000, 0x100000, 0, "//anon")
	for offset := uint64(second / 2); offset < tableRun; offset += second / 2 {
		for i := range uint64(4) {
			if name := fmt.Sprintf("func%d", i); loads[name]+ms <= offset {
				w.expect(flaggedPID, at(offset+i), 0x10008+i*0x10000, name+"+0x8")
			}
		}
	}
	w.expect(flaggedPID, at(10*second), 0x50008, "early+0x8")
	w.expect(flaggedPID, at(25*second), 0x50008, "late+0x8")
	w.Exit(flaggedPID, flaggedPID, at(tableRun))
	return w
}

// check compares a result with the expectations of the cell, and returns the number of samples with a name.
func (c cell) check(t *testing.T, w *world, sum *report.Summary) (named int64) {
	t.Helper()
	kind := sum.Dumps[0].Clock.Kind
	isStart := kind == report.ClockNone || kind == report.ClockStart
	if isStart != c.isStart() {
		t.Errorf("for %v: got clock %+v; want functions from the start: %v", c, sum.Dumps[0].Clock, c.isStart())
	}
	if isStart && kind != report.ClockStart && sum.Complete() {
		t.Errorf("for %v: got clock %+v and no problem; want one", c, sum.Dumps[0].Clock)
	}
	m := readMappings(t, w.opts.Output)
	for _, s := range w.wants {
		got, want := m.symbol(t, s), s.sym
		if got != "" {
			named++
		}
		switch {
		case got == want:
		case s.ip == 0x50008 && (isStart || got == "") && !sum.Complete(): // one function's name, or none, and said so
		default:
			t.Errorf("for %v: got %q; want %q at %#x at %d ns (clock %+v; %v)", c, got, want, s.ip, s.time, sum.Dumps[0].Clock, sum.Problems)
			return named
		}
	}
	if sum.Samples.Resolved != named {
		t.Errorf("for %v: got %d samples in functions in the summary; want %d", c, sum.Samples.Resolved, named)
	}
	return named
}

// TestClockTable_AllCells injects each cell, and with -short every other one.
func TestClockTable_AllCells(t *testing.T) {
	for times := range tableTimes {
		t.Run(tableTimes[times].name, func(t *testing.T) {
			t.Parallel()
			for k := range tableClocks {
				for _, conv := range []bool{false, true} {
					for i, flags := range []jitdump.Flags{0, jitdump.ArchTimestamps, orcFlags} {
						if testing.Short() && (i+times+len(k))%2 > 0 {
							continue
						}
						c := cell{flags, k, conv, times}
						w := c.world(t)
						w.Write(t, w.opts.Input)
						sum, err := engine.Run(t.Context(), w.opts)
						if err != nil {
							t.Errorf("for %v: unexpected error: %v", c, err)
							continue
						}
						c.check(t, w, sum)
					}
				}
			}
		})
	}
}

// TestClockTable_NeverLessThanPerf compares with perf inject, where that takes the recording.
func TestClockTable_NeverLessThanPerf(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	compared := 0
	for times := range tableTimes {
		for _, c := range []cell{{0, "mono", false, times}, {0, "mono", true, times}, {jitdump.ArchTimestamps, "none", true, times}, {jitdump.ArchTimestamps, "mono", true, times}, {jitdump.ArchTimestamps, "mono", false, times}} {
			w := c.world(t)
			w.Machine = "x86_64"
			w.Write(t, w.opts.Input)
			if out, err := testrec.Command(t, w.dir, perf, "inject", "--jit", "-f", "-i", w.opts.Input, "-o", "perf-inject.data").CombinedOutput(); err != nil {
				t.Logf("%v: perf inject fails: %v, %s", c, err, out)
				continue
			}
			theirs := int64(0)
			for _, s := range shownByPerf(t, w.dir, perf, "perf-inject.data") {
				theirs += s.Resolved
			}
			w.opts.Objects = filepath.Join(w.dir, "objects")
			sum, err := engine.Run(t.Context(), w.opts)
			if err != nil {
				t.Errorf("for %v: unexpected error: %v", c, err)
				continue
			}
			ours := int64(0)
			for _, s := range shownByPerf(t, w.dir, perf, w.opts.Output) {
				ours += s.Resolved
			}
			t.Logf("%v: perf inject names %d, jitinject %d of %d", c, theirs, ours, len(w.wants))
			if ours < theirs || sum.Samples.Resolved != ours {
				t.Errorf("for %v: got %d named samples, and %d in the summary; want no fewer than the %d of perf inject, and equal numbers", c, ours, sum.Samples.Resolved, theirs)
			}
			compared++
		}
	}
	if compared == 0 {
		t.Error("perf inject takes no recording")
	}
}
