package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/report"
)

// Recordings made without -k mono. Their clock is ahead of the dumps' by offset,
// and the evidence for that is made by hand.
const (
	offset = 3_000_000_000
	ms     = 1_000_000
	start  = 50_000 * ms // of the process, in the recording's time
)

// unclocked makes a world without -k, with a process that maps its dump at start.
func unclocked(t *testing.T) *world {
	w := newWorld(t)
	w.ClockID = -1
	w.mark(100, start, "jit-100.dump")
	return w
}

// in is a time of the recording, at a time of the dump.
func in(dump uint64) uint64 { return dump + offset }

// at is a time of the dump, some milliseconds after the start.
func at(n uint64) uint64 { return start - offset + n*ms }

// clock injects and wants a certain clock and certain words in the problems, or
// none.
func (w *world) clock(want report.Clock, words ...string) *report.Summary {
	w.t.Helper()
	sum, err := w.run()
	if err != nil {
		w.t.Fatal(err)
	}
	if sum.Dumps[0].Clock != want {
		w.t.Errorf("clock %+v, want %+v", sum.Dumps[0].Clock, want)
	}
	if sum.Complete() != (len(words) == 0) {
		w.t.Errorf("problems: %v", sum.Problems)
	}
	for _, word := range words {
		if !strings.Contains(fmt.Sprint(sum.Problems), word) {
			w.t.Errorf("no problem says %q: %v", word, sum.Problems)
		}
	}
	w.resolve(w.opts.Output)
	return sum
}

func estimated(offset, err int64) report.Clock {
	return report.Clock{Kind: report.ClockEstimated, Offset: offset, Error: err}
}

var noClock = report.Clock{Kind: report.ClockNone, Error: -1}

// A first function 5 ms after the dump was mapped, a second one that is sampled
// 1 ms after it was loaded: functions come 5 ms early, which is known to be no
// more than 6, and what clocks drift apart in 11 ms. An address that is used again
// has its two names.
func TestClock_FunctionsBoundTheOffset(t *testing.T) {
	w := unclocked(t)
	w.expect(100, in(at(7)), 0x10008, "alpha+0x8")
	w.expect(100, in(at(11)), 0x20008, "beta+0x8")
	w.expect(100, in(at(30)), 0x30008, "gamma+0x8")
	w.expect(100, in(at(61)), 0x30008, "delta+0x8")
	w.expect(100, in(at(62)), 0x90008, "")
	w.Exit(100, 100, in(at(100)))
	w.dump("jit-100.dump", x86(100),
		load(at(5), 100, 1, 0x10000, "alpha", code(64, 1)),
		load(at(10), 100, 2, 0x20000, "beta", code(64, 2)),
		load(at(20), 100, 3, 0x30000, "gamma", code(64, 3)),
		load(at(60), 100, 4, 0x30000, "delta", code(64, 4)))
	w.clock(estimated(offset-5*ms, 6*ms+5500))
}

// Without samples the end of the process is evidence; without that nothing says
// how early functions are, but early they may be.
func TestClock_NoSamples(t *testing.T) {
	for _, exits := range []bool{true, false} {
		w := unclocked(t)
		w.expect(100, in(at(10)), 0x90008, "")
		w.dump("jit-100.dump", x86(100), load(at(5), 100, 1, 0x10000, "alpha", code(64, 1)))
		want := estimated(offset-5*ms, -1)
		w.Exit(100, 102, in(at(1))) // a thread
		if exits {
			w.Exit(100, 100, in(at(20)))
			want.Error = 20*ms + 10_000
		}
		w.clock(want)
	}
}

// Evidence that leaves the offset open by more than a second: an address that two
// functions used has neither.
func TestClock_OffsetOpenByASecond(t *testing.T) {
	w := unclocked(t)
	w.expect(100, in(at(2000)), 0x10008, "alpha+0x8")
	w.expect(100, in(at(2001)), 0x30008, "")
	w.expect(100, in(at(2002)), 0x30028, "")
	w.Exit(100, 100, in(at(2010)))
	w.dump("jit-100.dump", x86(100),
		load(at(5), 100, 1, 0x10000, "alpha", code(64, 1)),
		load(at(6), 100, 2, 0x30000, "gamma", code(64, 3)),
		load(at(500), 100, 3, 0x30020, "delta", code(64, 4)))
	w.clock(estimated(offset-5*ms, 1515*ms+1_005_000),
		"jit-100.dump: its times can be matched only roughly", "2 functions at addresses that were used more than once", "perf record -k mono")
}

// A sample long before its function: no offset can be right. What needs no time
// is there all the same, moved functions at both places.
func TestClock_NoOffsetFits(t *testing.T) {
	w := unclocked(t)
	w.expect(100, start+1*ms, 0x10008, "alpha+0x8")
	w.expect(100, start+2*ms, 0x40008, "beta+0x8")
	w.expect(100, start+3*ms, 0x50008, "beta+0x8")
	w.expect(100, start+4*ms, 0x30008, "")
	w.dump("jit-100.dump", x86(100),
		load(at(5), 100, 2, 0x40000, "beta", code(64, 1)),
		load(at(500), 100, 1, 0x10000, "alpha", code(64, 1)),
		load(at(501), 100, 3, 0x30000, "gamma", code(64, 3)),
		load(at(502), 100, 4, 0x30000, "delta", code(64, 4)),
		move(at(600), 100, 2, 0x40000, 0x50000, 64))
	w.clock(noClock, "2 of 3 samples in its functions would precede their functions", "2 functions at addresses that were used more than once")
}

// Some runtimes tell of a function when it has run for a moment.
func TestClock_FunctionToldLate(t *testing.T) {
	w := unclocked(t)
	w.expect(100, in(at(50)), 0x10008, "")
	for i := range uint64(150) {
		w.expect(100, in(at(300+i)), 0x10008, "alpha+0x8")
	}
	w.dump("jit-100.dump", x86(100),
		load(at(0), 100, 2, 0x40000, "beta", code(64, 1)),
		load(at(200), 100, 1, 0x10000, "alpha", code(64, 1)))
	w.clock(estimated(offset, 100*ms+150_000))
}

// A dump that goes on for longer than its process, or that counts from another
// start of a machine, is another run's.
func TestClock_DumpOfAnotherRun(t *testing.T) {
	w := unclocked(t)
	w.expect(100, in(at(6)), 0x10008, "alpha+0x8")
	w.Exit(100, 100, in(at(30)))
	w.dump("jit-100.dump", x86(100),
		load(at(5), 100, 1, 0x10000, "alpha", code(64, 1)),
		load(at(50), 100, 2, 0x20000, "beta", code(64, 1)))
	w.clock(noClock, "continues after the end of its process")

	w = unclocked(t)
	w.expect(100, start+ms, 0x10008, "alpha+0x8")
	w.dump("jit-100.dump", x86(100), load(at(4_000_000), 100, 1, 0x10000, "alpha", code(64, 1)))
	w.clock(noClock, "first time, 4047.000000000 s", "fits no clock of its process")
}

// perf record was attached to a process that had mapped its dump long before.
func TestClock_PerfAttachedLater(t *testing.T) {
	for _, again := range []bool{false, true} {
		w := newWorld(t)
		w.ClockID = -1
		w.Comm(100, 0, "prog", false)
		w.Marker(100, 0, w.path("jit-100.dump"))
		recs := []timed{
			load(at(5), 100, 1, 0x10000, "alpha", code(64, 1)),
			load(at(50), 100, 2, 0x20000, "beta", code(64, 1)),
		}
		w.expect(100, in(at(40)), 0x10008, "alpha+0x8")
		w.expect(100, in(at(60)), 0x20008, map[bool]string{false: "beta+0x8"}[again])
		if !again {
			w.dump("jit-100.dump", x86(100), recs...)
			w.clock(noClock)
			continue
		}
		w.dump("jit-100.dump", x86(100), append(recs, load(at(60), 100, 3, 0x20010, "gamma", code(64, 1)))...)
		w.clock(noClock, "after process 100 had mapped the dump", "2 functions at addresses that were used more than once")
	}
}

// The dump's clock is faster by 100 ppm: in 100 s that is 10 ms, and functions
// that are sampled at once tell. Faster by 1 % no clock is.
func TestClock_DumpRunsFaster(t *testing.T) {
	for _, ppm := range []uint64{100, 10_000} {
		w := unclocked(t)
		var recs []timed
		for i := range uint64(100) {
			t, addr := i*1000*ms, 0x10000+i*0x100
			w.expect(100, in(at(1))+t, addr, fmt.Sprintf("alpha%d+0x0", i))
			recs = append(recs, load(at(0)+t+t*ppm/1_000_000, 100, i, addr, fmt.Sprintf("alpha%d", i), code(64, 1)))
		}
		w.dump("jit-100.dump", x86(100), recs...)
		if ppm == 100 {
			w.clock(estimated(offset, ms+500))
		} else {
			w.clock(noClock, "99 of 100 samples")
		}
	}
}

// With -k, clocks differ in what they count. Those that NTP corrects alike do not
// drift apart; CLOCK_BOOTTIME is CLOCK_MONOTONIC where a machine never slept.
func TestClock_OtherClockOfK(t *testing.T) {
	for _, c := range []struct {
		id   int32
		off  uint64
		want report.Clock
	}{
		{0, 1_700_000_000_000 * ms, estimated(1_700_000_000_000*ms-5*ms, 6*ms)},
		{11, 1_700_000_000_000 * ms, estimated(1_700_000_000_000*ms-5*ms, 6*ms)},
		{4, 300 * ms, estimated(295*ms, 6*ms+5500)},
		{7, 0, report.Clock{Kind: report.ClockMonotonic}},
		{7, 3600_000 * ms, estimated(3600_000*ms-5*ms, 6*ms)},
	} {
		w := newWorld(t)
		w.ClockID = c.id
		w.mark(100, at(0)+c.off, "jit-100.dump")
		w.expect(100, at(11)+c.off, 0x20008, "beta+0x8")
		w.dump("jit-100.dump", x86(100),
			load(at(5), 100, 1, 0x10000, "alpha", code(64, 1)),
			load(at(10), 100, 2, 0x20000, "beta", code(64, 2)))
		w.clock(c.want)
	}
}

// Options.Clock may give the offset, whatever the recording's clock is.
func TestClock_OffsetGiven(t *testing.T) {
	for id, given := range map[int32]int64{-1: offset, 1: -offset} {
		w := newWorld(t)
		w.ClockID = id
		w.opts.Clock = fmt.Sprint(given)
		w.mark(100, uint64(10*offset+given), "jit-100.dump")
		w.expect(100, uint64(10*offset+given)+99, 0x10008, "")
		w.expect(100, uint64(10*offset+given)+100, 0x10008, "alpha+0x8")
		w.dump("jit-100.dump", x86(100), load(10*offset+100, 100, 1, 0x10000, "alpha", code(64, 1)))
		w.clock(report.Clock{Kind: report.ClockGiven, Offset: given, Error: -1})
	}
	w := ready(t)
	w.opts.Clock = "soon"
	w.fails(`Options.Clock = "soon"`, "auto, strict, or a number of nanoseconds")
}

// A child that writes into its parent's dump has its functions at its own time,
// and an exec is the end of the program that the dump is about.
func TestClock_ForkedChildAndExec(t *testing.T) {
	w := unclocked(t)
	w.Fork(101, 100, in(at(20)))
	w.expect(101, in(at(25)), 0x10008, "alpha+0x8")
	w.expect(101, in(at(32)), 0x20008, "child+0x8")
	w.expect(100, in(at(32)), 0x20008, "")
	w.Comm(100, in(at(40)), "other", true)
	w.dump("jit-100.dump", x86(100),
		load(at(5), 100, 1, 0x10000, "alpha", code(64, 1)),
		load(at(31), 101, 1, 0x20000, "child", code(64, 2)),
		load(at(39), 100, 2, 0x30000, "beta", code(64, 2)))
	w.clock(estimated(offset-5*ms, 6*ms+16_000)) // the child's sample bounds it
}

// A process that outlives the recording may load all of its functions afterwards: no sample says anything
// else.
func TestClock_LoadedAfterTheRecording(t *testing.T) {
	for _, ip := range []uint64{0x90008, 0x10008} {
		w := newWorld(t)
		w.mark(100, start, "jit-100.dump")
		w.dump("jit-100.dump", x86(100), load(start+60_000*ms, 100, 1, 0x10000, "alpha", code(64, 1)))
		if ip == 0x90008 {
			w.expect(100, start+ms, ip, "")
			w.clock(report.Clock{Kind: report.ClockMonotonic})
		} else {
			w.expect(100, start+ms, ip, "alpha+0x8")
			w.clock(noClock, "fits no clock of its process")
		}
	}
}

// Times from outside the life of the process, which took 100 ms: nothing proves that they are of another
// clock, or another run's. Not even a shift by a second makes the last ones fit.
func TestClock_OutsideTheLifeOfItsProcess(t *testing.T) {
	for _, c := range []struct {
		off   int64 // of the dump's times
		want  report.Clock
		words []string
	}{
		{-60 * ms, report.Clock{Kind: report.ClockMonotonic}, nil},
		{-300 * ms, report.Clock{Kind: report.ClockOther, Offset: 295 * ms, Error: 6*ms + 5500}, nil},
		{-1500 * ms, report.Clock{Kind: report.ClockOther, Offset: 1495 * ms, Error: 6*ms + 5500}, []string{"its times are 1.50 s before those of the recording: they are of another clock, or it is the dump of another run"}},
		{600 * ms, report.Clock{Kind: report.ClockOther, Offset: -605 * ms, Error: 6*ms + 5500}, []string{"its times are 0.60 s after those of the recording: they are of another clock, or it is the dump of another run"}},
		{1500 * ms, report.Clock{}, []string{"all its times come after the end of process 100; was it overwritten by another run?"}},
	} {
		w := newWorld(t)
		w.mark(100, sinceBoot, "jit-100.dump")
		w.expect(100, sinceBoot+11*ms, 0x20008, "beta+0x8")
		w.Exit(100, 100, sinceBoot+100*ms)
		w.dump("jit-100.dump", x86(100),
			load(uint64(sinceBoot+c.off+5*ms), 100, 1, 0x10000, "alpha", code(64, 1)),
			load(uint64(sinceBoot+c.off+10*ms), 100, 2, 0x20000, "beta", code(64, 2)))
		if c.want.Kind != "" {
			w.clock(c.want, c.words...)
		} else if _, err := w.run(); err == nil || !strings.Contains(err.Error(), c.words[0]) {
			t.Errorf("got error %v; want %q", err, c.words[0])
		}
	}
}

// A few wrong times do not make the others those of another clock.
func TestClock_OneWrongTime(t *testing.T) {
	const second = 1_000_000_000
	w := newWorld(t)
	w.mark(100, 5000*second, "jit-100.dump")
	recs := []timed{load(7, 100, 0, 0x10000, "early", code(64, 0))}
	for i := range uint64(40) {
		recs = append(recs, load(5001*second+i*100, 100, i+1, 0x20000, fmt.Sprint("f", i), code(64, byte(i))))
	}
	w.dump("jit-100.dump", x86(100), recs...)
	w.expect(100, 5000*second+500, 0x10004, "early+0x4")
	for i := range uint64(40) {
		w.expect(100, 5001*second+i*100+50, 0x20004, fmt.Sprintf("f%d+0x4", i))
	}
	w.check()
}
