package producer_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// modes builds modes.c with flags and returns its path.
func modes(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	args := slices.Concat(cFlags, flags, []string{"-std=gnu11", "-Wno-pedantic", "-I", producer(t), "-o", "modes", producer(t, "test", "testdata", "modes.c"), producer(t, "test", "testdata", "implementation.c")})
	testrec.Run(t, dir, testrec.Tool(t, "gcc"), args...)
	return filepath.Join(dir, "modes")
}

// A written is what a run of modes has written and said.
type written struct {
	path  string
	out   string
	loads []string // names of functions, in order
	all   []string // each record in short
}

// read reads a dump. Times may not go back, and numbers of functions differ.
func read(t *testing.T, path string) (w written) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := jitdump.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	last, numbers := r.Header().Timestamp, make(map[uint64]bool)
	for {
		raw, err := r.Next()
		if errors.Is(err, io.EOF) {
			return w
		}
		if err != nil {
			t.Fatal(err)
		}
		if raw.Timestamp < last {
			t.Errorf("%s at %#x: the time goes back", raw.ID, raw.Offset)
		}
		last = raw.Timestamp
		rec, err := raw.Decode()
		if err != nil {
			t.Fatal(err)
		}
		w.all = append(w.all, fmt.Sprint(raw.ID))
		if l, ok := rec.(*jitdump.Load); ok {
			if numbers[l.CodeIndex] {
				t.Errorf("two functions have number %d", l.CodeIndex)
			}
			numbers[l.CodeIndex] = true
			w.loads = append(w.loads, string(l.Name))
		}
	}
}

// eachRecord calls f with each record of a dump, which is valid until f returns.
func eachRecord(t *testing.T, path string, f func(jitdump.RecordID, jitdump.Record)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := jitdump.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for raw, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		rec, err := raw.Decode()
		if err != nil {
			t.Fatal(err)
		}
		f(raw.ID, rec)
	}
}

// run runs modes, and reads and verifies its dump.
func run(t *testing.T, program, mode string) written {
	t.Helper()
	dir := t.TempDir()
	out := testrec.Run(t, dir, program, mode, dir)
	w := read(t, dumpIn(t, dir))
	w.path, w.out = dumpIn(t, dir), out
	verified(t, dumpIn(t, dir))
	return w
}

func TestDebugInfo_Tree(t *testing.T) {
	program := modes(t)
	dir := t.TempDir()
	testrec.Run(t, dir, program, "tree", dir)
	verified(t, dumpIn(t, dir))
	var got []string
	say := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	eachRecord(t, dumpIn(t, dir), func(id jitdump.RecordID, rec jitdump.Record) {
		switch rec := rec.(type) {
		case *jitdump.Tier:
			say("tier %d %s", rec.Number, rec.Name)
		case *jitdump.EmbeddedSource:
			say("source %s %q", rec.Name, rec.Text)
		case *jitdump.DebugInfo:
			n := 0
			for e, err := range rec.Entries() {
				if err != nil {
					t.Fatal(err)
				}
				say("plain +%d %s:%d:%d", e.Addr-rec.CodeAddr, e.Name, e.Line, e.Discrim)
				n++
			}
			if uint64(n) != rec.Count {
				t.Errorf("got %d entries, want %d", n, rec.Count)
			}
		case *jitdump.DebugInfo2:
			if err := errors.Join(rec.CheckTree(64), rec.CheckLines()); err != nil {
				t.Error(err)
			}
			for _, f := range rec.Functions {
				say("function %s %s:%d:%d %#x", rec.Names[f.Name], rec.Files[f.File], f.Line, int32(f.Column), f.Flags)
			}
			ranges := rec.Ranges
			for _, c := range rec.Calls {
				say("call %s%s at %d:%d %v", strings.Repeat("  ", int(c.Depth)), rec.Names[rec.Functions[c.Function].Name], c.Line, int32(c.Column), ranges[:c.RangeCount])
				ranges = ranges[c.RangeCount:]
			}
			for _, l := range rec.Lines {
				say("line +%d %s:%d:%d", l.Offset, rec.Files[l.File], l.Line, int32(l.Column))
			}
		case *jitdump.Load:
			say("load %s %d bytes, number %d", rec.Name, len(rec.Code), rec.CodeIndex)
		case *jitdump.Move:
			say("move %d by %d", rec.CodeIndex, rec.NewCodeAddr-rec.OldCodeAddr)
		default:
			say("%s", id)
		}
	})
	const want = `tier 2 Optimizer
source /src/b.toy "text\n"
plain +0 /src/a.toy:2:1
plain +4 /src/b.toy:11:1
plain +8 /src/b.toy:21:0
plain +12 /src/b.toy:11:1
plain +20 /src/a.toy:4:1
plain +24 /src/b.toy:11:1
plain +28 /src/a.toy:6:1
plain +64 /src/a.toy:6:1
function outer /src/a.toy:1:0 0x2000001
function inner /src/b.toy:10:4 0x1
function leaf /src/b.toy:20:-1 0x0
call inner at 3:8 [{4 16} {40 24}]
call   leaf at 12:-1 [{8 4} {42 22}]
call inner at 5:8 [{24 4}]
line +0 /src/a.toy:2:0
line +4 /src/b.toy:11:0
line +8 /src/b.toy:21:-1
line +12 /src/b.toy:11:0
line +20 /src/a.toy:4:0
line +24 /src/b.toy:11:0
line +28 /src/a.toy:6:0
load outer 64 bytes, number 0
move 0 by 8
JIT_CODE_CLOSE`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// Each mode writes the functions, and says what it should.
func TestDump_Modes(t *testing.T) {
	program := modes(t)
	for _, c := range []struct {
		mode  string
		loads int // number of functions
		last  string
		says  string
	}{
		{"stdin", 1, "outer", ""},
		{"plain-lines-off", 1, "outer", ""},
		{"twice", 1, "f", "open: 16\n"},
		{"again", 1, "f", "cannot create DIR/jit-PID.dump: this process has it open already; no second jitdump is written\nopen: 16\n"},
		{"wrong", 8, "wrong", `lines are left out of wrong: jitdump_debug_function was not called for the function
error: jitdump_debug_function was not called for the function
error: jitdump_debug_pop without a call
error: an offset is below the one before
error: a line has a file that jitdump_debug_file did not return
error: a call has a function that jitdump_debug_function did not return
error: inlined calls are more than 256 deep
error: a function has a file that jitdump_debug_file did not return
error: an offset is after the end of the code
`},
		{"threads", 16000, "outer", ""},
		{"buffer", 4000, "outer", ""},
		{"buffer-bound", 1001, "long", ""},
		{"full", 81, "f", "cannot write DIR/jit-PID.dump: file too large; the jitdump ends here, and the program goes on\nopen: 0\n"},
		{"buffer-full", 66, "f", "cannot write DIR/jit-PID.dump: file too large; the jitdump ends here, and the program goes on\nopen: 0\n"},
		{"gone", 2, "g", "the code of a function cannot be read; it is left out of DIR/jit-PID.dump\n"},
		{"closed", 1, "f", "the program has closed the descriptor of DIR/jit-PID.dump; the jitdump ends here, and the program goes on\nopen: 0\n"},
		{"raw-fork", 2, "later", ""},
		{"frames", 1, "measured", ""},
		{"frames-cut", 1, "measured", ""},
		{"frames-other", 1, "measured", "unwind tables are left out of measured: no entry of .eh_frame is about the code\n"},
		{"rows", 1, "measured", ""},
		{"rows-machine", 1, "measured", "unwind tables are left out of measured: rows are for x86 and arm64: send .eh_frame\n"},
		{"rows-order", 1, "measured", "unwind tables are left out of measured: rows are not in order, or after the code\n"},
		{"rows-odd", 1, "measured", "unwind tables are left out of measured: offsets of a row are not multiples of a word, or have the wrong sign\n"},
		{"rows-cfa", 1, "measured", "unwind tables are left out of measured: a row has a register that the machine does not have\n"},
		{"rows-saved", 1, "measured", "unwind tables are left out of measured: a row has a register that the machine does not have\n"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			w := run(t, program, c.mode)
			dir, name := filepath.Split(w.path)
			out := strings.ReplaceAll(strings.ReplaceAll(w.out, filepath.Clean(dir), "DIR"), name, "jit-PID.dump")
			if out != c.says || len(w.loads) != c.loads || w.loads[len(w.loads)-1] != c.last {
				t.Errorf("got %d functions and %q; want %d and %q", len(w.loads), out, c.loads, c.says)
			}
			if plain := slices.Contains(w.all, "JIT_CODE_DEBUG_INFO"); plain != slices.Contains([]string{"stdin", "threads", "buffer"}, c.mode) {
				t.Errorf("plain lines were written: %v", plain)
			}
		})
	}
}

// A child has a dump of its own, or none. The parent's goes on.
func TestDump_Forks(t *testing.T) {
	program := modes(t)
	for mode, want := range map[string]string{"fork": "child", "no-children": ""} {
		dir := t.TempDir()
		var child int
		if _, err := fmt.Sscanf(testrec.Run(t, dir, program, mode, "."), "child: %d", &child); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprintf("jit-%d.dump", child))
		if want != "" {
			if w := read(t, path); len(w.loads) != 1 || w.loads[0] != want {
				t.Errorf("%s: the child's dump has %q, want %q", mode, w.loads, want)
			}
			verified(t, path)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		if w := read(t, dumpIn(t, dir)); !slices.Equal(w.loads, []string{"parent", "parent later"}) {
			t.Errorf("%s: the parent's dump has %q", mode, w.loads)
		}
		verified(t, dumpIn(t, dir))
	}
}

// A thread that is cancelled while it writes does not keep the lock.
func TestDump_CancelledThread(t *testing.T) {
	program, dir := modes(t), t.TempDir()
	testrec.Run(t, dir, "timeout", "60", program, "cancelled", dir)
	if w := read(t, dumpIn(t, dir)); w.loads[len(w.loads)-1] != "last" {
		t.Errorf("got %q last", w.loads[len(w.loads)-1])
	}
}

// A killed process loses only functions that were held back since jitdump_flush.
func TestDump_Killed(t *testing.T) {
	program, dir := modes(t), t.TempDir()
	if err := testrec.Command(t, dir, program, "buffer-killed", dir).Run(); err == nil {
		t.Fatal("it was not killed")
	}
	if w := read(t, dumpIn(t, dir)); len(w.loads) != 100 {
		t.Errorf("got %d functions, want 100", len(w.loads))
	}
}

// A record of one's own is right before its function.
func TestDump_ExtraRecord(t *testing.T) {
	program, dir := modes(t), t.TempDir()
	testrec.Run(t, dir, program, "extra", dir)
	if w := read(t, dumpIn(t, dir)); len(w.all) != 4 || w.all[2] != "JIT_CODE_LOAD" || !strings.Contains(w.all[1], "4711") {
		t.Errorf("got records %q", w.all)
	}
}

// The dump's descriptor is not standard input's, and the file is for its owner only. A link in its
// place is removed, and its target stays.
func TestOpen_Traps(t *testing.T) {
	program, dir := modes(t), t.TempDir()
	precious := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(precious, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	// The shell's pid is the program's.
	testrec.Run(t, dir, "sh", "-c", `ln -s "$2" "$1/jit-$$.dump" && exec "$0" tree "$1"`, program, dir, precious)
	if b, err := os.ReadFile(precious); err != nil || string(b) != "precious" {
		t.Errorf("the target of a link has %q, %v", b, err)
	}
	if info, err := os.Lstat(dumpIn(t, dir)); err != nil || info.Mode() != 0o600 {
		t.Errorf("got %v, %v; want a file of mode 0600", info.Mode(), err)
	}
	out := testrec.Run(t, dir, program, "rows", filepath.Join(dir, "nonexistent"))
	if !strings.Contains(out, "no such file or directory; no jitdump is written") {
		t.Errorf("got %q", out)
	}
}

// Eight threads with a sanitizer; a million functions with JITINJECT_ALL.
func TestDump_Sanitizers(t *testing.T) {
	mode := "threads"
	if os.Getenv("JITINJECT_ALL") != "" {
		mode = "million"
	}
	for _, flags := range []string{"-fsanitize=address,undefined -fno-sanitize-recover=all", "-fsanitize=thread"} {
		t.Run(flags, func(t *testing.T) {
			program := modes(t, append(strings.Fields(flags), "-g", "-O1")...)
			// TSan ends a program that it finds at an address of its own.
			prefix := []string{program}
			if testrec.Command(t, "", "setarch", "-R", "true").Run() == nil {
				prefix = []string{"setarch", "-R", program}
			}
			for _, mode := range []string{mode, "tree", "wrong", "full", "buffer", "buffer-full", "fork", "frames", "frames-cut", "rows", "rows-machine", "gone", "closed", "extra"} {
				if strings.Contains(flags, "thread") && mode == "fork" {
					continue // of a program with other threads, which TSan has
				}
				dir := t.TempDir()
				_, stderr := testrec.RunBoth(t, dir, prefix[0], append(prefix[1:], mode, dir)...)
				if stderr != "" {
					t.Errorf("%s: %s", mode, stderr)
				}
				if mode == "fork" {
					continue // which has two dumps
				}
				if w := read(t, dumpIn(t, dir)); mode == "million" && len(w.loads) != 1000000 {
					t.Errorf("got %d functions", len(w.loads))
				}
				os.Remove(dumpIn(t, dir))
			}
		})
	}
}
