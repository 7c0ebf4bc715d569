package checkv8_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

const (
	realLogs  = "../../format/v8log/testdata/"
	realDumps = "../../runtime/v8/testdata/"
)

// Real logs have no complaints beside their dumps, and all optimized code pairs. Beside the dump of
// the other version no code pairs.
func TestLog_OfNode(t *testing.T) {
	for _, c := range []struct{ name, other, want string }{
		{"node20", "node25", "74 lines, 2 scripts, 33 code objects of functions, 11 optimized, 4 with inlined calls; 11 of 11 optimized are in node20.dump"},
		{"node25", "node20", "86 lines, 2 scripts, 39 code objects of functions, 17 optimized, 4 with inlined calls; 17 of 17 optimized are in node25.dump"},
	} {
		log, dump := realLogs+c.name+".log", realDumps+c.name+".dump"
		if rules, all := verifytest.Verified(t, formats.Verifier(), log, verify.Options{Dumps: []string{realDumps + c.other + ".dump", dump}}); len(rules) > 0 {
			t.Errorf("%s: got %+v; want no complaint", c.name, all)
		}
		result, err := formats.Verifier().File(context.Background(), log, verify.Options{Dumps: []string{dump}})
		if err != nil || result.Holds != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, result.Holds, err, c.want)
		}
		rules, _ := verifytest.Verified(t, formats.Verifier(), log, verify.Options{Dumps: []string{realDumps + c.other + ".dump"}})
		if strings.Join(rules, " ") != "v8log/other-process" {
			t.Errorf("%s beside the dump of %s: got %v; want v8log/other-process", c.name, c.other, rules)
		}
	}
}

// Whole logs beside their dumps have one complaint: Maglev of node 25 writes 0 for code without a
// position. All optimized code pairs, also that of workers, each with its own log.
func TestLog_OfRecordings(t *testing.T) {
	for name, want := range map[string]int{"v8log-node25": 1, "v8log-workers": 2} {
		dir := testrec.Unpack(t, name)
		logs, err := filepath.Glob(filepath.Join(dir, "*v8.log"))
		if err != nil || len(logs) != want {
			t.Fatalf("%s: got logs %v, %v; want %d", name, logs, err, want)
		}
		for _, log := range logs {
			var rules []string
			opts := verify.Options{Dumps: testrec.Dumps(t, dir), Emit: func(d verify.Diagnostic) { rules = append(rules, d.Rule) }}
			result, err := formats.Verifier().File(context.Background(), log, opts)
			if err != nil {
				t.Fatal(err)
			}
			if rules = slices.DeleteFunc(rules, func(r string) bool { return r == "v8log/offset-zero" }); len(rules) > 0 {
				t.Errorf("%s: got %v; want no complaint", log, rules)
			}
			_, pairs, _ := strings.Cut(result.Holds, "; ")
			var paired, all int
			if n, _ := fmt.Sscanf(pairs, "%d of %d optimized", &paired, &all); n != 2 || paired != all || all < 20 {
				t.Errorf("%s: got %q; want all of 20 or more optimized ones", log, pairs)
			}
		}
	}
}

// Names of functions have newlines as they are, and may look like lines of the log.
func TestLog_NamesLikeRecords(t *testing.T) {
	for _, name := range []string{"a\nsfi-move,0x1,0x2", "a\nsfi-move,0x1,0x2\nb", "a\ncode-creation,JS,9,1,0x10,20,f /x:1:1,0x200000000010,*", "a,0x1,*", "\n", `a\x`} {
		log := strings.ReplaceAll(goodLog(), ",odd,\nname\\x ", ","+name+" ")
		if rules, all := verifytest.Verified(t, formats.Verifier(), alone(t, t.TempDir(), log), verify.Options{}); len(rules) > 0 {
			t.Errorf("%q: got %+v; want no complaint", name, all)
		}
	}
}

// A log that another one overwrites in pieces, as with --no-logfile-per-isolate, is recognized.
func TestLog_OverwrittenByAnotherIsolate(t *testing.T) {
	a, err := os.ReadFile(realLogs + "node20.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{500, 1000, 3001, 5000} {
		log := bytes.Clone(a)
		copy(log[at+400:], a[at:at+1500])
		rules, _ := verifytest.Verified(t, formats.Verifier(), alone(t, t.TempDir(), string(log)), verify.Options{})
		if len(rules) < 2 {
			t.Errorf("overwritten at %d: got %v; want several rules", at, rules)
		}
	}
}

// Every prefix of a log breaks the rule of a cut, and no other.
func TestLog_CutAnywhere(t *testing.T) {
	log, v := goodLog(), formats.Verifier()
	for n := 1; n < len(log); n += 3 {
		rules, all := verifytest.Verified(t, v, alone(t, t.TempDir(), log[:n]), verify.Options{})
		got := strings.Join(rules, " ")
		want := "v8log/cut"
		if log[n-1] == '\n' && !strings.HasSuffix(log[:n], ",odd,\n") {
			want = ""
		}
		if !strings.Contains(log[:n], "code-source-info,0x100000001000,1,10,35,C0O10C5O25,,\n") {
			want = strings.TrimSpace(want + " v8log/no-sources")
		}
		if got != want {
			t.Fatalf("%d bytes, to %q: got %q; want %q: %+v", n, log[max(0, n-20):n], got, want, all)
		}
	}
}

// A filler is a log with a large text and many functions, made as it is read.
type filler struct {
	pending bytes.Buffer
	script  int
	scripts int
}

func (f *filler) Read(p []byte) (int, error) {
	if f.pending.Len() == 0 {
		if f.script == f.scripts {
			return 0, io.EOF
		}
		f.script++
		if f.script == 1 {
			f.pending.WriteString("v8-version,14,1,146,11,-node.25,0\n")
		}
		line := strings.Repeat(" ", 98) + `\n`
		fmt.Fprintf(&f.pending, "script-source,%d,/a.js,%s\n", f.script, strings.Repeat(line, 40_000))
		for i := range 20 {
			fmt.Fprintf(&f.pending, "code-creation,JS,9,1,0x%x,9,f /a.js:%d:1,0x%x,~\ncode-source-info,0x%x,%d,%d,%d,C0O%d,,\n",
				0x10000+i*16, i+1, f.script*4096+i, 0x10000+i*16, f.script, i*99, i*99+50, i*99)
		}
	}
	return f.pending.Read(p)
}

// A log needs memory for the starts of lines and for functions, and none for its texts.
func TestLog_LargeTexts(t *testing.T) {
	const scripts = 10
	path := filepath.Join(t.TempDir(), "v8.log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	size, err := io.Copy(file, &filler{scripts: scripts})
	if err != nil || size < scripts*4_000_000 {
		t.Fatalf("got %d bytes, %v; want %d", size, err, scripts*4_000_000)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var all []verify.Diagnostic
	result, err := formats.Verifier().File(context.Background(), path, verify.Options{Emit: func(d verify.Diagnostic) { all = append(all, d) }})
	runtime.ReadMemStats(&after)
	if err != nil || len(all) > 0 || !strings.HasPrefix(result.Holds, "411 lines, 10 scripts, 200 code objects") {
		t.Fatalf("got %+v, %v, %v; want 10 scripts and 200 objects without complaints", result, all, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > uint64(size)/2 {
		t.Errorf("got %d bytes of memory altogether for %d bytes of log; want less than half", got, size)
	}
}
