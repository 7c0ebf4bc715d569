package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// Maps of perf in recordings made by hand.

// newMapWorld makes a world that says its machine, as every perf does: a map does not.
func newMapWorld(t *testing.T) *world {
	w := newWorld(t)
	w.Machine = "x86_64"
	return w
}

// mapped makes a process with executable memory, from 0x7f1200000000 on, and a map.
func (w *world) mapped(pid uint32, lines ...string) {
	w.t.Helper()
	w.Comm(pid, 900, "prog", true)
	w.Mmap2(pid, 1000, 0x7f1200000000, 0x10000, 0, "//anon")
	w.mapFile(fmt.Sprintf("perf-%d.map", pid), lines...)
}

// mapFile writes a map.
func (w *world) mapFile(name string, lines ...string) {
	w.t.Helper()
	put(w.t, w.path(name), []byte(strings.Join(lines, "\n")+"\n"))
}

// A pid that no process of this machine has.
const mapPID = 777_000_010

func TestPerfMap_FoundBesideTheRecording(t *testing.T) {
	w := newMapWorld(t)
	w.mapped(mapPID, "7f1200000000 40 plain", "0x00007f1200000100 0x0000000000000080 void Name.with(int, Spaces)", "7F1200000200\t20\tupper")
	w.expect(mapPID, 2000, 0x7f1200000010, "plain+0x10")
	w.expect(mapPID, 2001, 0x7f120000017f, "void Name.with(int, Spaces)+0x7f")
	w.expect(mapPID, 2002, 0x7f1200000200, "upper+0x0")
	w.expect(mapPID, 2003, 0x7f1200000180, "")
	sum := w.check()
	d := sum.Dumps[0]
	if d.Kind != formats.PerfMap || d.PID != mapPID || d.Functions != 3 || d.WithoutCode != 3 || d.Clock.Kind != report.ClockStart || d.Cut != -1 {
		t.Errorf("got %+v; want 3 functions of process %d without code, from the start on", d, mapPID)
	}
}

// A map has no times: where lines have addresses in common, the later one counts.
func TestPerfMap_AddressesUsedAgain(t *testing.T) {
	w := newMapWorld(t)
	w.mapped(mapPID,
		"7f1200000000 100 outer", // loses its middle
		"7f1200000040 40 inner",
		"7f1200001000 40 first", // loses all
		"7f1200001000 80 second",
		"7f1200002000 40 same", // occurs again
		"7f1200002000 40 same",
		"7f1200003000 40 tail", // loses its begin
		"7f1200002fc0 60 head",
		"7f1200004000 40 code",
		"7f1200004010 0 mark", // no code: it counts where nothing else is
		"7f1200005000 0 alone")
	for ip, sym := range map[uint64]string{
		0x7f1200000010: "outer+0x10", 0x7f1200000050: "inner+0x10", 0x7f1200000090: "outer+0x10",
		0x7f1200001010: "second+0x10", 0x7f1200002004: "same+0x4", 0x7f1200003010: "head+0x50", 0x7f1200003028: "tail+0x8",
		0x7f1200004010: "code+0x10", 0x7f1200005000: "alone+0x0", 0x7f1200005001: "",
	} {
		w.expect(mapPID, 2000+uint64(len(w.wants)), ip, sym)
	}
	sum := w.check()
	if d := sum.Dumps[0]; d.Overwritten != 3 || d.Repeated != 1 || d.Functions != 9 {
		t.Errorf("got %+v; want 3 overwritten, 1 repeated, 9 functions", d)
	}
	if len(sum.Notes) != 1 || !strings.Contains(sum.Notes[0], "3 functions of 11 have addresses that later lines have as well") {
		t.Errorf("got notes %q", sum.Notes)
	}
}

// Functions count from the mapping of their memory on. Files that were mapped there before, or later
// over it, keep their symbols.
func TestPerfMap_MemoryOfManyKinds(t *testing.T) {
	w := newMapWorld(t)
	w.Comm(mapPID, 900, "prog", true)
	w.Mmap2(mapPID, 1000, 0x7f1200000000, 0x1000, 0, "/usr/lib/gone.so")
	w.Mmap2(mapPID, 1001, 0x7f1300000000, 0x1000, 0, "//anon")
	w.Mmap2(mapPID, 1002, 0x7f1400000000, 0x1000, 0, "/memfd:doublemapper (deleted)")
	w.expect(mapPID, 1500, 0x7f1200000010, "")
	w.expect(mapPID, 1501, 0x7f1300000010, "second+0x10")
	w.expect(mapPID, 1502, 0x7f1400000010, "third+0x10")
	w.Mmap2(mapPID, 2000, 0x7f1200000000, 0x1000, 0, "//anon")
	w.Mmap2(mapPID, 2001, 0x7f1500000000, 0x1000, 0, "/usr/lib/late.so")
	w.expect(mapPID, 2500, 0x7f1200000010, "first+0x10")
	w.expect(mapPID, 2501, 0x7f1500000010, "")
	w.mapFile(fmt.Sprintf("perf-%d.map", mapPID),
		"7f1200000000 40 first", "7f1300000000 40 second", "7f1400000000 40 third", "7f1500000000 40 in a file", "559900000000 40 bytecode")
	if d := w.check().Dumps[0]; d.InImages != 1 || d.Elsewhere != 1 || d.Functions != 4 {
		t.Errorf("got %+v; want 4 functions, 1 of them in a file, and 1 elsewhere", d)
	}
}

// Damaged lines are named with their offsets, and cost nothing else.
func TestPerfMap_DamagedLines(t *testing.T) {
	w := newMapWorld(t)
	w.mapped(mapPID, "7f1200000000 40 good", "", "what is this", "7f1200000100 40", "7f1200000200 fffffffffffffff0 wide", "10 40 low", "ffffffff81000000 40 kernel", "7f1200000300 40 better\x00hidden", "7f1200000400 40 at the end")
	st, err := os.Stat(w.path(fmt.Sprintf("perf-%d.map", mapPID)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(w.path(fmt.Sprintf("perf-%d.map", mapPID)), st.Size()-1); err != nil {
		t.Fatal(err)
	}
	w.expect(mapPID, 2000, 0x7f1200000000, "good+0x0")
	w.expect(mapPID, 2001, 0x7f1200000304, "better+0x4")
	w.expect(mapPID, 2002, 0x7f1200000404, "at the end+0x4") // perf loses the last letter
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	w.resolve(w.opts.Output)
	var texts []string
	for _, p := range sum.Problems {
		texts = append(texts, p.String())
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"offset 0x16: it is not a hexadecimal number", "name at offset 0x32: it has no name", "size at offset 0x40", "line at offset 0x56: no code is at 0x10", "no code is at 0xffffffff81000000"} {
		if !strings.Contains(all, want) {
			t.Errorf("got %s; want %q", all, want)
		}
	}
	if len(sum.Problems) != 5 || sum.Dumps[0].Cut != 0x99 {
		t.Errorf("got %d problems, cut at %#x; want 5, and %#x", len(sum.Problems), sum.Dumps[0].Cut, 0x99)
	}
}

// The process of a named map is that of its name, or else the one with memory at its addresses.
func TestPerfMap_Named(t *testing.T) {
	for _, c := range []struct {
		name, file string
		pid        uint32
		problem    string
	}{
		{"by its name", fmt.Sprintf("perf-%d.map", mapPID), 0, ""},
		{"by the user", "perf-1.map", mapPID, ""},
		{"by its addresses", "perf-1.map", 0, ""},
		{"of another process", "perf-1.map", mapPID + 1, "none of its functions lies where process 777000011 had executable memory"},
	} {
		w := newMapWorld(t)
		w.dirs("maps")
		w.Comm(mapPID+1, 900, "other", true)
		w.Mmap2(mapPID+1, 1000, 0x7f5500000000, 0x10000, 0, "//anon")
		w.mapped(mapPID)
		w.mapFile("maps/"+c.file, "7f1200000000 40 function")
		w.expect(mapPID, 2000, 0x7f1200000010, "function+0x10")
		w.opts.SideFiles = []config.SideFile{{Kind: formats.PerfMap, Path: w.path("maps/" + c.file), PID: c.pid}}
		if c.problem == "" {
			if sum := w.check(); sum.Dumps[0].PID != mapPID {
				t.Errorf("%s: got %s", c.name, asJSON(sum))
			}
			continue
		}
		if sum, err := w.run(); err == nil && (len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, c.problem)) || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: got %s, %v; want %q", c.name, asJSON(sum), err, c.problem)
		}
	}
}

// A map that several processes may have written is not used.
func TestPerfMap_OfSeveralProcesses(t *testing.T) {
	w := newMapWorld(t)
	w.mapped(mapPID)
	w.mapped(mapPID + 1)
	w.mapFile("perf.map", "7f1200000000 40 function")
	w.Sample(mapPID, 2000, 0x7f1200000010)
	w.opts.SideFiles = []config.SideFile{{Kind: formats.PerfMap, Path: w.path("perf.map")}}
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "it may be of any of the processes 777000010, 777000011") {
		t.Errorf("got %s, %v; want a problem", asJSON(sum), err)
	}
}

// A forked child has its parent's functions, and those of its own map in memory of its own.
func TestPerfMap_ForkedChild(t *testing.T) {
	w := newMapWorld(t)
	w.mapped(mapPID, "7f1200000000 40 parents")
	w.Fork(mapPID+1, mapPID, 1500)
	w.Mmap2(mapPID+1, 1600, 0x7f1300000000, 0x1000, 0, "//anon")
	w.mapFile(fmt.Sprintf("perf-%d.map", mapPID+1), "7f1300000000 40 childs")
	w.expect(mapPID+1, 2000, 0x7f1200000010, "parents+0x10")
	w.expect(mapPID+1, 2001, 0x7f1300000010, "childs+0x10")
	w.expect(mapPID, 2002, 0x7f1200000010, "parents+0x10")
	w.expect(mapPID, 2003, 0x7f1300000010, "")
	w.check()
}

// A process with a dump has that. That a map contradicts it is reported.
func TestPerfMap_BesideADump(t *testing.T) {
	w := newMapWorld(t)
	w.mark(mapPID, 950, "jit-1.dump")
	w.Mmap2(mapPID, 1000, 0x7f1200000000, 0x10000, 0, "//anon")
	w.mapFile(fmt.Sprintf("perf-%d.map", mapPID), "7f1200000000 40 wrong")
	w.dump("jit-1.dump", x86(mapPID), load(1500, mapPID, 1, 0x7f1200000000, "right", code(64, 1)))
	w.expect(mapPID, 2000, 0x7f1200000010, "right+0x10")
	sum, err := w.run()
	if err != nil || len(sum.Dumps) != 1 || len(sum.Problems) != 1 || sum.Problems[0].Code != report.ProblemContradiction {
		t.Errorf("got %s, %v; want 1 dump and a contradiction", asJSON(sum), err)
	}
	w.resolve(w.opts.Output)
}

// Files that are no map of the process are left alone, and the reason is reported.
func TestPerfMap_Refused(t *testing.T) {
	path := fmt.Sprintf("perf-%d.map", mapPID)
	for _, c := range []struct {
		name string
		make func(w *world)
		text string
		step string
	}{
		{"another run", func(w *world) { w.mapFile(path, "7f5500000000 40 other") }, "none of its functions lies where", ""},
		{"empty", func(w *world) { put(w.t, w.path(path), nil) }, "it is empty", "write the map again"},
		{"no map", func(w *world) { put(w.t, w.path(path), []byte("#!/bin/sh\n")) }, "it is no perf map", "write the map again"},
		{"link", func(w *world) {
			w.mapFile("real", "7f1200000000 40 function")
			if err := os.Symlink("real", w.path(path)); err != nil {
				w.t.Fatal(err)
			}
		}, "it is a symbolic link", "Kind: perf-map, PID: 777000010, Path: FILE"},
		{"pipe", func(w *world) {
			if err := unix.Mkfifo(w.path(path), 0o600); err != nil {
				w.t.Fatal(err)
			}
		}, "it is not a regular file", ""},
		{"directory", func(w *world) { w.dirs(path) }, "it is not a regular file", ""},
		{"before the process", func(w *world) {
			w.mapFile(path, "7f1200000000 40 function")
			w.Wall, w.Clock = 1_700_000_000e9, 900
			if err := os.Chtimes(w.path(path), time.Time{}, time.Unix(1_700_000_000-3, 0)); err != nil {
				w.t.Fatal(err)
			}
		}, "it is of another run", "Kind: perf-map, PID: 777000010, Path: "},
	} {
		w := newMapWorld(t)
		w.mapped(mapPID)
		w.jitting(mapPID, "prog", "/usr/bin/prog", 30)
		if err := os.Remove(w.path(path)); err != nil {
			t.Fatal(err)
		}
		c.make(w)
		sum, err := w.run()
		if err != nil || len(sum.Reasons) != 1 || sum.Reasons[0].Kind != report.ReasonPerfMap || !strings.Contains(sum.Reasons[0].Text, c.text) ||
			!strings.Contains(sum.Reasons[0].Text, path+" is not used: ") || !strings.Contains(sum.Reasons[0].Advice, c.step) || !sum.Complete() {
			t.Errorf("%s: got %s, %v; want a reason with %q, and advice with %q", c.name, asJSON(sum), err, c.text, c.step)
		}
	}
}

// A map belongs to its process if the last write came after the process began, or if one of the two
// times is unknown.
func TestPerfMap_WrittenWhileItRan(t *testing.T) {
	for _, c := range []struct{ wall, written int64 }{{1_700_000_000, 1_700_000_001}, {0, 1_500_000_000}, {1_700_000_000, 0}} {
		w := newMapWorld(t)
		w.mapped(mapPID, "7f1200000000 40 function")
		w.Wall, w.Clock = uint64(c.wall)*1e9, 900
		if err := os.Chtimes(w.path(fmt.Sprintf("perf-%d.map", mapPID)), time.Time{}, time.Unix(c.written, 0)); err != nil {
			t.Fatal(err)
		}
		w.expect(mapPID, 2000, 0x7f1200000010, "function+0x10")
		w.check()
	}
}

// A map is used for a recording from a pipe as for one in a file, if it is named or found.
func TestPerfMap_InAPipe(t *testing.T) {
	w := newMapWorld(t)
	w.mapped(mapPID, "7f1200000000 40 function")
	w.expect(mapPID, 2000, 0x7f1200000010, "function+0x10")
	w.Write(t, w.opts.Input)
	t.Chdir(w.dir) // where the map of a pipe is looked for
	for _, named := range [][]config.SideFile{nil, {{Kind: formats.PerfMap, Path: w.path(fmt.Sprintf("perf-%d.map", mapPID))}}} {
		opts := w.opts
		opts.Input, opts.Stdin, opts.SideFiles = "-", feed(t, w.stream(), 1000), named
		sum, err := engine.Run(t.Context(), opts)
		if err != nil || !sum.Complete() || sum.Samples.Resolved != 1 {
			t.Fatalf("named %v: got %s, %v; want no error, nothing missing, Samples.Resolved = 1", named, asJSON(sum), err)
		}
		w.resolve(w.opts.Output)
	}
}

// stream returns the recording as a stream. It must have been written.
func (w *world) stream() []byte {
	w.t.Helper()
	stream, err := perfdata.AppendPreamble([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"), openFile(w.t, w.opts.Input))
	if err != nil {
		w.t.Fatal(err)
	}
	eachRaw(w.t, w.opts.Input, func(rec []byte) { stream = append(stream, rec...) })
	return stream
}
