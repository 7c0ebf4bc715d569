package engine_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Headers that say nothing, or something false, about the clock of a dump.

// sinceBoot is when the recordings of these tests begin, in nanoseconds.
const sinceBoot = 5_000_000 * ms

// orcFlags are flags that LLVM's ORC left uninitialised: bytes of a path, and bit 0.
const orcFlags jitdump.Flags = 0x2f7265706c650103

// A number that no process of the machine can have: of a stream, the engine asks whether the
// process still runs.
const (
	flaggedPID  = 777_000_001
	flaggedDump = "jit-777000001.dump"
)

// flaggedWorld has a process with two functions at one place, one after the other. convert
// makes times of the dump.
func flaggedWorld(t *testing.T, flags jitdump.Flags, convert func(uint64) uint64) *world {
	w := newWorld(t)
	w.mark(flaggedPID, sinceBoot, flaggedDump)
	w.expect(flaggedPID, sinceBoot+9*ms, 0x10008, "alpha+0x8")
	w.expect(flaggedPID, sinceBoot+30*ms, 0x10008, "beta+0x8")
	w.expect(flaggedPID, sinceBoot+40*ms, 0x90008, "")
	w.Exit(flaggedPID, flaggedPID, sinceBoot+50*ms)
	h := x86(flaggedPID)
	h.Flags, h.Pad = flags, 0x40
	w.dump(flaggedDump, h,
		load(convert(sinceBoot+5*ms), flaggedPID, 1, 0x10000, "alpha", code(64, 1)),
		load(convert(sinceBoot+20*ms), flaggedPID, 2, 0x10000, "beta", code(64, 2)))
	return w
}

func same(t uint64) uint64 { return t }

// hasRepair reports whether a dump's repairs have a name.
func hasRepair(sum *report.Summary, name string) bool {
	for _, r := range sum.Dumps[0].Fixes {
		if r.Name == name {
			return true
		}
	}
	return false
}

// The clock is what the times can be, whatever uninitialised flags say.
func TestClockKind_UnknownFlags(t *testing.T) {
	for _, flags := range []jitdump.Flags{orcFlags, orcFlags &^ 1, 1 << 63} {
		w := flaggedWorld(t, flags, same)
		w.clock(report.Clock{Kind: report.ClockMonotonic})
		if sum := w.check(); !hasRepair(sum, "unknown-flags") {
			t.Errorf("flags %#x: repairs %+v, want unknown-flags", uint64(flags), sum.Dumps[0].Fixes)
		}
	}
}

// A recording in perf's own clock, with the record that converts counts of the
// processor: the times fit one of the two clocks.
func TestClockKind_UnknownFlagsAndTimeConv(t *testing.T) {
	conv := make([]byte, 24)
	for i, v := range []uint64{1, 1, 7} { // (count >> 1) + 7
		binary.LittleEndian.PutUint64(conv[8*i:], v)
	}
	for _, c := range []struct {
		name    string
		convert func(uint64) uint64
		want    report.Clock
	}{
		{"counts", func(t uint64) uint64 { return (t - 7) << 1 }, report.Clock{Kind: report.ClockTSC}},
		{"nanoseconds", same, report.Clock{Kind: report.ClockEstimated, Offset: -5 * ms}},
	} {
		w := flaggedWorld(t, orcFlags, c.convert)
		w.ClockID = -1
		w.Raw(79, 0, conv)
		sum, err := w.run()
		if err != nil || !sum.Complete() {
			t.Fatalf("%s: got %s, %v; want no error, nothing missing", c.name, asJSON(sum), err)
		}
		if got := sum.Dumps[0].Clock; got.Kind != c.want.Kind || got.Offset != c.want.Offset {
			t.Errorf("%s: clock %+v, want %+v", c.name, got, c.want)
		}
		w.resolve(w.opts.Output)
	}
}

// Flag 1 of a recording that cannot convert counts: the times say that they are none.
func TestClockKind_FalseFlag(t *testing.T) {
	w := flaggedWorld(t, jitdump.ArchTimestamps, same)
	sum := w.clock(report.Clock{Kind: report.ClockMonotonic})
	if !strings.Contains(fmt.Sprint(sum.Notes), "counts of the processor's clock, but they fit the recording's CLOCK_MONOTONIC") {
		t.Errorf("notes %v", sum.Notes)
	}
	w = flaggedWorld(t, jitdump.ArchTimestamps, func(t uint64) uint64 { return 2 * t })
	w.wants[0].sym = "beta+0x8" // the last one, as with perf inject
	w.clock(noClock, "counts of the processor's clock", "without -k", "samples are shown in the last of them")
}

// Times in a unit that is too long to tell two functions of one place apart.
func TestClockKind_OneTime(t *testing.T) {
	w := flaggedWorld(t, 0, func(t uint64) uint64 { return t / 1e6 })
	w.clock(report.Clock{Kind: report.ClockMonotonic})
	w = flaggedWorld(t, 0, func(t uint64) uint64 { return t / 1e9 })
	w.wants[0].sym = "beta+0x8"
	w.clock(report.Clock{Kind: report.ClockMonotonic},
		"units of 1s, too long", "at addresses that were used more than once (2 functions), samples are shown in the last of them")
}

// Unknown flags and times of no clock.
func TestClockKind_Neither(t *testing.T) {
	w := flaggedWorld(t, orcFlags, func(t uint64) uint64 { return 2 * t })
	w.wants[0].sym = "beta+0x8"
	w.clock(noClock, "first time, 10000.010000000 s", "mapped it at 5000.000000000 s")
}

const wallAhead = 1_795_000_000_000 * ms // of CLOCK_MONOTONIC

func wall(t uint64) uint64 { return t + wallAhead }

// Times since 1970: what the recording says of that clock is the offset, if nothing
// contradicts it; else it is estimated.
func TestClockKind_Realtime(t *testing.T) {
	measured := report.Clock{Kind: report.ClockRealtime, Offset: -wallAhead - ms, Error: ms}
	estimated := report.Clock{Kind: report.ClockRealtime, Offset: -wallAhead - 5*ms, Error: 35 * ms}
	for _, c := range []struct {
		name  string
		clock uint64 // of the recording when it was wall(sinceBoot - 1 s)
		flags jitdump.Flags
		want  report.Clock
	}{
		{"measured", sinceBoot - 1000*ms, 0, measured},
		{"measured, unknown flags", sinceBoot - 1000*ms, orcFlags, measured},
		{"set back since", sinceBoot - 7000*ms, 0, estimated},
		{"set forward since", sinceBoot + 7000*ms, 0, estimated},
		{"not measured", 0, 0, estimated},
	} {
		w := flaggedWorld(t, c.flags, wall)
		if c.clock != 0 {
			w.Wall, w.Clock = wall(sinceBoot-1000*ms), c.clock
		}
		w.clock(c.want)
		w.opts.Clock = "strict"
		w.Write(t, w.opts.Input)
		if _, err := engine.Run(t.Context(), w.opts); err == nil || !strings.Contains(err.Error(), "CLOCK_REALTIME (nanoseconds since 1970)") || !strings.Contains(err.Error(), "have the runtime write CLOCK_MONOTONIC") {
			t.Errorf("%s: strict: %v", c.name, err)
		}
	}
}

// The same in perf's own clock and in CLOCK_BOOTTIME.
func TestClockKind_RealtimeElsewhere(t *testing.T) {
	for _, id := range []int32{-1, 4, 7} {
		w := flaggedWorld(t, 0, wall)
		w.ClockID = id
		sum, err := w.run()
		if err != nil || !sum.Complete() || sum.Dumps[0].Clock.Kind != report.ClockRealtime {
			t.Fatalf("clock %d: %+v, %v", id, sum, err)
		}
		w.resolve(w.opts.Output)
	}
}

// Evidence against any offset.
func TestClockKind_RealtimeContradicted(t *testing.T) {
	w := newWorld(t)
	w.mark(100, sinceBoot, "jit-100.dump")
	w.expect(100, sinceBoot+9*ms, 0x10008, "alpha+0x8")
	w.Exit(100, 100, sinceBoot+50*ms)
	w.dump("jit-100.dump", x86(100),
		load(wall(sinceBoot+5*ms), 100, 2, 0x20000, "beta", code(64, 2)),
		load(wall(sinceBoot+5000*ms), 100, 1, 0x10000, "alpha", code(64, 1)))
	w.clock(noClock, "its times are of CLOCK_REALTIME", "1 of 1 samples in its functions would precede", "have the runtime write CLOCK_MONOTONIC")
}

// In a stream, there is only the first record.
func TestClockKind_Stream(t *testing.T) {
	for _, c := range []struct {
		name    string
		flags   jitdump.Flags
		convert func(uint64) uint64
		wall    bool
		want    string
	}{
		{"unknown flags", orcFlags, same, false, report.ClockMonotonic},
		{"since 1970", 0, wall, true, report.ClockRealtime},
		{"since 1970, not measured", 0, wall, false, report.ClockRealtime},
	} {
		w := newWorld(t)
		if c.wall {
			data := binary.LittleEndian.AppendUint64(nil, 29) // CLOCK_DATA
			data = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(data, 1), 1)
			data = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(data, wall(sinceBoot-ms)), sinceBoot-ms)
			w.Raw(80, 0, data)
		}
		records := flaggedWorld(t, c.flags, c.convert)
		w.Payload(records.Data())
		w.wants, w.dir = records.wants, records.dir
		w.Write(t, w.opts.Input)
		sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, asPipe(t, w.opts.Input), 100), Output: w.opts.Output})
		if err != nil || !sum.Complete() || sum.Dumps[0].Clock.Kind != c.want {
			t.Fatalf("%s: got %s, %v; want no error, nothing missing, Dumps[0].Clock.Kind = %v", c.name, asJSON(sum), err, c.want)
		}
		w.resolve(w.opts.Output)
	}
}

// A header without elf_mach: the recording knows the machine.
func TestMachine_OfTheRecording(t *testing.T) {
	w := newWorld(t)
	w.Machine = "x86_64"
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	h := x86(100)
	h.Machine = 0
	w.dump("jit-100.dump", h, load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	if sum := w.check(); !hasRepair(sum, "no-machine") {
		t.Errorf("repairs %+v, want no-machine", sum.Dumps[0].Fixes)
	}
	if out := testrec.Run(t, w.dir, testrec.Tool(t, "readelf"), "-h", w.path("jitted-100-1.so")); !strings.Contains(out, "X86-64") {
		t.Errorf(`got %s; want one with "X86-64"`, out)
	}
	w.Machine = ""
	w.Write(t, w.opts.Input)
	if _, err := engine.Run(t.Context(), w.opts); err == nil || !strings.Contains(err.Error(), "neither it nor the recording says what machine its code is for") {
		t.Errorf("without a machine in the recording: %v", err)
	}
}
