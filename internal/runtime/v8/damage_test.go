package v8

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/format/v8log"
	dumps "github.com/jitinject/jitinject/jitdump"
)

// Logs that are cut, absurd, or that change after they were read.

// textOf returns a description as text, to compare.
func textOf(info *dumps.DebugInfo2) string {
	return fmt.Sprintf("%q %q %v %v %v %v", info.Files, info.Names, info.Functions, info.Calls, info.Ranges, info.Lines)
}

// Every prefix of a log describes the code of its whole lines, as the whole log does.
func TestIndex_CutAnywhere(t *testing.T) {
	log, dump := sample(t, "node20")
	_, whole, _ := pairLog(t, log, dump)
	var want []string
	var ends []int // of the lines of the code
	for i := range whole.objects {
		info, problem, err := (&Trees{functions: map[int]described{0: {index: whole, object: int32(i)}}}).Tree(0, whole.objects[i].size)
		if err != nil || problem != nil {
			t.Fatalf("object %d: got %v, %v; want none", i, err, problem)
		}
		want = append(want, textOf(info))
		at := int(whole.objects[i].positions.Off)
		ends = append(ends, at+bytes.IndexByte(log[at:], '\n')+1)
	}
	g := &target{jitdump: dump}
	new(attacher).prepare(g)
	for n := len("v8-version,"); n <= len(log); n++ {
		x, err := readIndex(t.Context(), bytes.NewReader(log[:n]), "v8.log", g.wanted)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		objects := 0
		for objects < len(ends) && ends[objects] <= n {
			objects++
		}
		cut := int64(bytes.LastIndexByte(log[:n], '\n') + 1)
		if cut == int64(n) {
			cut = -1
		}
		if len(x.objects) != objects || x.cut != cut || x.damaged > 0 {
			t.Fatalf("%d bytes: got %d objects, cut at %d, damage %v; want %d, %d, none", n, len(x.objects), x.cut, x.damage, objects, cut)
		}
		if cut >= 0 && n%16 > 0 {
			continue
		}
		for i := range x.objects {
			info, problem, err := (&Trees{functions: map[int]described{0: {index: x, object: int32(i)}}}).Tree(0, x.objects[i].size)
			if err != nil || problem != nil {
				t.Fatalf("%d bytes, object %d: got %v, %v; want none", n, i, err, problem)
			}
			if got := textOf(info); got != want[i] {
				t.Fatalf("%d bytes, object %d: got %s; want %s", n, i, got, want[i])
			}
		}
	}
}

// madeLog is a log of a function f with g inlined, at 0x1000.
const madeLog = "v8-version,11,3,244,8,0\nscript-source,1,/a.js,one\\ntwo\\nthree\n" +
	"code-creation,JS,11,1,0x500,9,g /a.js:2:1,0x30,~\ncode-source-info,0x500,1,4,7,,,\n" +
	"code-creation,JS,13,9,0x1000,64,f /a.js:1:1,0x20,*\ncode-source-info,0x1000,1,0,13,C0O0C4O4I0C8O8,F0O4,S0x30\n"

// A changing is a log with contents that the test changes.
type changing struct {
	text string
	fail func(off int64) error // if not nil, and not the result of it
}

func (c *changing) ReadAt(b []byte, off int64) (int, error) {
	if c.fail != nil {
		if err := c.fail(off); err != nil {
			return 0, err
		}
	}
	return strings.NewReader(c.text).ReadAt(b, off)
}

// A log that has changed since it was read first describes nothing.
func TestTree_ChangedLog(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"as it was", "", "", "<nil>"},
		{"longer", "S0x30\n", "S0x30\nsfi-move,0x1,0x2\n", "<nil>"},
		{"other positions", "C4O4", "C5O4", "the log has changed since it was read first"},
		{"other calls", "F0O4", "F0O5", "the log has changed since it was read first"},
		{"damaged positions", "C4O4", "\x00\x00\x00\x00", "the log has changed since it was read first"},
		{"another name", ",g /a", "a/g g", "the log has changed since it was read first"},
		{"shifted", "v8-version,11", "v8-version,1", "the log has changed since it was read first"},
		{"cut", "C8O8,F0O4,S0x30\n", "", "the log has shrunk since it was read first"},
		{"cut at the name", madeLog[150:], "", "the log has shrunk since it was read first"},
		{"empty", madeLog, "", "the log has shrunk since it was read first"},
	} {
		src := &changing{text: madeLog}
		x, err := readIndex(t.Context(), src, "v8.log", map[place]int{{0x1000, 64}: 1})
		if err != nil || len(x.objects) != 1 {
			t.Fatalf("got %v, %d objects; want no error, 1", err, len(x.objects))
		}
		src.text = strings.Replace(madeLog, c.old, c.new, 1)
		info, problem, err := (&Trees{functions: map[int]described{0: {index: x}}}).Tree(0, 64)
		if got := fmt.Sprint(err); !strings.Contains(got, c.want) || (info != nil) != (err == nil) || problem != nil {
			t.Errorf("%s: got %v, %v, %v; want the error %s", c.name, info, problem, err, c.want)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "v8.log: offset 0x") || !strings.HasSuffix(err.Error(), "; the lines of the dump are used")) {
			t.Errorf("%s: got %v; want the file, the offset, and what is used instead", c.name, err)
		}
	}
}

// A read that fails is an error, wherever it is: of the log, or of a function.
func TestTree_UnreadableLog(t *testing.T) {
	for n := 1; ; n++ {
		calls := 0
		src := &changing{text: madeLog, fail: func(int64) error {
			if calls++; calls == n {
				return unix.EIO
			}
			return nil
		}}
		x, err := readIndex(t.Context(), src, "v8.log", map[place]int{{0x1000, 64}: 1})
		if err == nil && x.damage != nil {
			err = x.damage
		}
		if err == nil {
			_, _, err = (&Trees{functions: map[int]described{0: {index: x}}}).Tree(0, 64)
		}
		if calls < n {
			if n < 8 {
				t.Errorf("got %d reads; want 7 or more", calls)
			}
			return
		}
		if !errors.Is(err, unix.EIO) {
			t.Errorf("read %d: got %v; want %v", n, err, unix.EIO)
		}
	}
}

// A list that is too long to be of code costs its function's description, and no memory.
func TestTree_EndlessList(t *testing.T) {
	long := strings.Repeat("C0O0", 10_000_000)
	for _, lists := range [][3]string{{long, "F0O4", "S0x30"}, {"C0O0", strings.Repeat("F0O4", 2_000_000), "S0x30"}} {
		_, _, err := madeTree(t, 64, lists[0], lists[1], lists[2])
		if err == nil || !strings.Contains(err.Error(), "more than 4194304 are not read; the lines of the dump are used") {
			t.Errorf("got %v; want that the list is too long", err)
		}
	}
	log := strings.Replace(madeLog, "S0x30\n", strings.Repeat("S0x30", 1_000_000)+"\n", 1)
	x, err := readIndex(t.Context(), strings.NewReader(log), "v8.log", map[place]int{{0x1000, 64}: 1})
	if err != nil || len(x.objects) != 0 || x.damaged != 1 || !strings.Contains(x.damage.Error(), "more than 4194304 are not read") {
		t.Errorf("got %v, %+v; want one damaged line", err, x)
	}
}

// Ranges of calls that come and go, all as deep as can be, are bounded.
func TestTree_ManyRanges(t *testing.T) {
	var calls, positions strings.Builder
	for _, first := range []int{0, 250} {
		for i := range 250 {
			if calls.WriteString("F0O4"); i > 0 {
				fmt.Fprintf(&calls, "I%d", first+i-1)
			}
		}
	}
	const n = 10_000
	for i := range n {
		fmt.Fprintf(&positions, "C%dO4I%d", i, 249+250*(i%2))
	}
	if info, _, err := madeTree(t, n, positions.String(), calls.String(), "S0x30"); info != nil || err == nil || !strings.Contains(err.Error(), "inlined calls have more than 1048576 ranges of code; the lines of the dump are used") {
		t.Errorf("got %v, %v; want an error", info != nil, err)
	}
}

// A function that has others inlined with names of megabytes is not described.
func TestTree_LongNames(t *testing.T) {
	var log, calls, positions, functions strings.Builder
	log.WriteString("v8-version,11,3,244,8,0\nscript-source,1,/a.js,one\n")
	const n = 70
	for i := range n {
		fmt.Fprintf(&log, "code-creation,JS,11,1,0x500,9,%s /a.js:1:1,%#x,~\ncode-source-info,0x500,1,0,3,,,\n", strings.Repeat("g", 65_000), 0x30+i)
		fmt.Fprintf(&calls, "F%dO1", i)
		fmt.Fprintf(&positions, "C%dO1I%d", i, i)
		fmt.Fprintf(&functions, "S%#x", 0x30+i)
	}
	fmt.Fprintf(&log, "code-creation,JS,13,9,0x1000,%d,f /a.js:1:1,0x20,*\ncode-source-info,0x1000,1,0,3,%s,%s,%s\n", n, positions.String(), calls.String(), functions.String())
	x, err := readIndex(t.Context(), strings.NewReader(log.String()), "v8.log", map[place]int{{0x1000, n}: 1})
	if err != nil || len(x.objects) != 1 {
		t.Fatalf("got %v, %+v; want 1 object", err, x)
	}
	trees := &Trees{functions: map[int]described{0: {index: x}}}
	if _, _, err := trees.Tree(0, n); err == nil || !strings.Contains(err.Error(), "have names of more than 4194304 bytes; the lines of the dump are used") {
		t.Errorf("got %v; want that the names are too long", err)
	}
	if trees.nameBytes > maxNameBytes+v8log.MaxName {
		t.Errorf("got %d bytes of names remembered; want at most %d", trees.nameBytes, maxNameBytes)
	}
}

// Logs without anything to use are read to their end.
func TestIndex_UselessLogs(t *testing.T) {
	const head = "v8-version,11,3,244,8,0\n"
	creation := "code-creation,JS,13,9,0x1000,64,f /a.js:1:1,0x20,*\n"
	for _, c := range []struct {
		name, text string
		damaged    int
		cut        bool
	}{
		{"creations", strings.Repeat(creation, 20_000), 0, false},
		{"creations without an end", strings.Repeat("code-creation,JS,13,9,0x1000,64,f\n", 10_000), 9_999, true},
		{"sources of code without creations", strings.Repeat("code-source-info,0x1000,1,0,13,C0O0,,\n", 20_000), 0, false},
		{"moves", strings.Repeat("sfi-move,0x10,0x20\nsfi-move,0x20,0x10\n", 20_000), 0, false},
		{"isolates", strings.Repeat(head, 20_000), 0, false},
		{"an endless line", strings.Repeat("x", 2_000_000), 0, true},
		{"an endless line of commas", strings.Repeat(",", 2_000_000), 0, true},
		{"an endless name", creation[:32] + strings.Repeat("x", 2_000_000), 0, true},
		{"an endless URL", "script-source,1," + strings.Repeat("x", 2_000_000), 0, true},
		{"zeros", strings.Repeat("\x00", 2_000_000), 0, true},
		{"empty lines", strings.Repeat("\n", 2_000_000), 0, false},
		{"a text of lines", "script-source,1,/a.js," + strings.Repeat("\\n", 9_000_000) + "\n", 1, false},
	} {
		x, err := readIndex(t.Context(), strings.NewReader(head+c.text), "v8.log", map[place]int{{0x1000, 64}: 1})
		if err != nil {
			t.Errorf("%s: got %v; want no error", c.name, err)
			continue
		}
		if len(x.objects) > 0 || len(x.functions) > 0 || x.damaged != c.damaged || (x.cut >= 0) != c.cut || len(x.scripts) > 0 {
			t.Errorf("%s: got %d objects, %d functions, %d scripts, %d damaged lines, cut at %d; want none, %d damaged, cut: %v", c.name, len(x.objects), len(x.functions), len(x.scripts), x.damaged, x.cut, c.damaged, c.cut)
		}
		if x.memory > 1<<20 {
			t.Errorf("%s: got %d bytes of memory; want at most 1 MiB", c.name, x.memory)
		}
	}
}
