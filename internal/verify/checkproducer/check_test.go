package checkproducer_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkproducer"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
	"github.com/jitinject/jitinject/jitdump"
)

// reported returns the notes about a dump, as "rule: text" without the rule's prefix, and whether the
// result is complete.
func reported(t *testing.T, path string) (notes []string, complete bool) {
	t.Helper()
	opts := verify.Options{Producer: true, All: true, Emit: func(d verify.Diagnostic) {
		if name, ok := strings.CutPrefix(d.Rule, "producer/"); ok {
			notes = append(notes, name+": "+d.Text)
			if d.Severity != verify.Note || d.Offset != -1 || d.Advice == "" {
				t.Errorf("got %+v; want a note with advice and without an offset", d)
			}
		}
	}}
	result, err := checks.Verifier().File(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return notes, result.Complete
}

func TestCheck_RealDumps(t *testing.T) {
	const derived = "; only jitinject derives them from the code"
	for name, want := range map[string][]string{
		"toyjit": {
			"plain-lines: lines for perf inject: 0 of 13 functions with lines",
			"unwind: unwind tables: 0 of 13 functions, 0% of the code bytes" + derived,
		},
		"node-hot": {
			// V8's other lines are false, and left out.
			"lines: lines: 4 of 2,204 functions, 0% of the code bytes",
			`sources: sources on this disk or in the dump: 0 of 1 file, not "/tmp/rec/node-hot/hot.js"`,
			"calls: inlined calls: 0 of 2,204 functions",
			"user: flag of the user's program: 0 of 2,204 functions",
			"tiers: tiers: 0 of 2,204 functions",
			"close: JIT_CODE_CLOSE: missing",
		},
		"php": {
			"lines: lines: 0 of 44 functions, 0% of the code bytes",
			"calls: inlined calls: 0 of 44 functions",
			"user: flag of the user's program: 0 of 44 functions",
			"tiers: tiers: 0 of 44 functions",
			"unwind: unwind tables: 0 of 44 functions, 0% of the code bytes" + derived,
		},
		"lli-hot": { // its lines are skewed
			"columns: columns: 0 of 10 source positions",
			`sources: sources on this disk or in the dump: 0 of 1 file, not "/tmp/rec/lli-hot/hot.c"`,
			"calls: inlined calls: 0 of 2 functions",
			"user: flag of the user's program: 0 of 2 functions",
			"tiers: tiers: 0 of 2 functions",
			"unwind: unwind tables: 0 of 2 functions, 0% of the code bytes" + derived,
			"close: JIT_CODE_CLOSE: missing",
		},
	} {
		got, complete := reported(t, testrec.Dumps(t, testrec.Unpack(t, name))[0])
		if complete || !slices.Equal(got, want) {
			t.Errorf("%s: complete %v, got\n%s\nwant\n%s", name, complete, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// A function of a made dump, and what it has.
type function struct {
	name, file string
	column     uint32
	plain      bool // lines in JIT_CODE_DEBUG_INFO
	tree       bool // lines in SAMPLY_JIT_CODE_DEBUG_INFO2
	inlines    bool
	flags      jitdump.FunctionFlags
	unwind     bool
}

// A dump is made for a test.
type dump struct {
	machine   elf.Machine
	functions []function
	sources   []string
	open      bool // without JIT_CODE_CLOSE
}

// write writes the dump with package jitdump and returns its path.
func (d *dump) write(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w, err := jitdump.NewWriter(&b, &jitdump.Header{Version: 1, Machine: uint32(d.machine), PID: verifytest.PID})
	if err != nil {
		t.Fatal(err)
	}
	now := uint64(1000)
	put := func(r jitdump.Record) {
		now++
		if err := w.Write(now, r); err != nil {
			t.Fatal(err)
		}
	}
	put(jitdump.NewTier(2, jitdump.Green, "Optimizing"))
	for _, name := range d.sources {
		put(jitdump.NewEmbeddedSource(name, []byte("text\n")))
	}
	for i, f := range d.functions {
		addr, code := verifytest.Base+uint64(i)<<12, verifytest.Code()
		if f.plain {
			put(jitdump.NewDebugInfo(binary.LittleEndian, addr, []jitdump.DebugEntry{{Addr: addr, Line: 3, Discrim: f.column + 1, Name: []byte(f.file)}}))
		}
		if f.tree {
			var tree jitdump.InlineBuilder
			tree.Function(f.name, f.file, 1, 0, f.flags)
			tree.At(0, jitdump.Outer, 2, f.column)
			if f.inlines {
				tree.At(4, tree.Inline(jitdump.Outer, tree.Function("square", f.file, 8, 0, 0), 3, 8), 9, f.column)
			}
			info, err := tree.Record(uint32(len(code)))
			if err != nil {
				t.Fatal(err)
			}
			put(info)
		}
		if f.unwind {
			put(&jitdump.Unwinding{HeaderSize: 4, Data: make([]byte, 8)})
		}
		put(&jitdump.Load{PID: verifytest.PID, TID: 1, VMA: addr, CodeAddr: addr, CodeSize: uint64(len(code)), CodeIndex: uint64(i), Name: []byte(f.name), Code: code})
	}
	if !d.open {
		put(&jitdump.Close{})
	}
	return verifytest.Write(t, t.TempDir(), "jit-4711.dump", b.Bytes())
}

// whole returns a dump with four functions in which nothing is missing.
func whole() *dump {
	d := &dump{machine: elf.EM_X86_64, sources: []string{"/nowhere/poly.toy"}}
	for _, name := range []string{"a", "b", "c", "d"} {
		d.functions = append(d.functions, function{name, "/nowhere/poly.toy", 4, true, true, true, jitdump.UserFunction | jitdump.TierFlags(2), true})
	}
	return d
}

// A dump gets a note for what it lacks, and none for the rest.
func TestCheck_MadeDumps(t *testing.T) {
	each := func(change func(f *function)) func(d *dump) {
		return func(d *dump) {
			for i := range d.functions {
				change(&d.functions[i])
			}
		}
	}
	seen := make(map[string]bool)
	for _, c := range []struct {
		change func(d *dump)
		want   string
	}{
		{func(d *dump) {}, ""},
		{func(d *dump) { d.functions[2].name = "" }, "names: names: 3 of 4 functions"},
		{func(d *dump) { d.functions[1].name, d.functions[3].name = "a", "a" }, `names: names: "a" for 3 of 4 functions`},
		{func(d *dump) { d.functions[1].name = "a" }, ""},
		{func(d *dump) { d.functions[1].plain, d.functions[1].tree = false, false }, "lines: lines: 3 of 4 functions, 75% of the code bytes"},
		{func(d *dump) { d.functions[0].plain, d.functions[1].plain = false, false }, "plain-lines: lines for perf inject: 2 of 4 functions with lines"},
		{each(func(f *function) { f.column = jitdump.NoColumn }), "columns: columns: 0 of 8 source positions"},
		{each(func(f *function) { f.column, f.plain = 0, false }), "plain-lines: lines for perf inject: 0 of 4 functions with lines\ncolumns: columns: 0 of 8 source positions"},
		{func(d *dump) { d.functions[2].file = "check.go" }, `file-names: absolute names: 1 of 2 files, not "check.go"`},
		{func(d *dump) { d.functions[2].file, d.sources = "poly.toy", append(d.sources, "poly.toy") }, ""},
		{func(d *dump) { d.sources = nil }, `sources: sources on this disk or in the dump: 0 of 1 file, not "/nowhere/poly.toy"`},
		{func(d *dump) { d.functions[2].file = "<eval>" }, `sources: sources on this disk or in the dump: 1 of 2 files, not "<eval>"`},
		{func(d *dump) { d.functions[2].file = here(t, "check.go") }, ""},
		{func(d *dump) { d.functions[2].file = "file://" + here(t, "check.go") }, ""},
		{each(func(f *function) { f.inlines = false }), "calls: inlined calls: 0 of 4 functions"},
		{each(func(f *function) { f.flags = jitdump.TierFlags(2) }), "user: flag of the user's program: 0 of 4 functions"},
		{each(func(f *function) { f.flags = jitdump.UserFunction }), "tiers: tiers: 0 of 4 functions"},
		{func(d *dump) { d.functions[2].unwind = false }, "unwind: unwind tables: 3 of 4 functions, 75% of the code bytes; only jitinject derives them from the code"},
		{func(d *dump) { d.machine, d.functions[2].unwind = elf.EM_RISCV, false }, "unwind: unwind tables: 3 of 4 functions, 75% of the code bytes; jitinject derives none for this machine"},
		{func(d *dump) { d.open = true }, "close: JIT_CODE_CLOSE: missing"},
	} {
		d := whole()
		c.change(d)
		got, complete := reported(t, d.write(t))
		if complete != (c.want == "") || strings.Join(got, "\n") != c.want {
			t.Errorf("got %q, complete %v; want %q", got, complete, c.want)
		}
		name, _, _ := strings.Cut(c.want, ":")
		seen["producer/"+name] = true
	}
	for _, r := range checkproducer.Rules {
		if !seen[r.Name] {
			t.Errorf("no dump breaks %s", r.Name)
		}
	}
}

// here returns the absolute name of a file of this package.
func here(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A dump without functions gets no notes, and is not complete.
func TestCheck_NoFunctions(t *testing.T) {
	if notes, complete := reported(t, (&dump{machine: elf.EM_X86_64}).write(t)); len(notes) > 0 || complete {
		t.Errorf("got %q, complete %v; want nothing, false", notes, complete)
	}
}

// Metadata of OpenJ9 gives a function lines and calls.
func TestCheck_OtherDebugInfo(t *testing.T) {
	metadata, err := os.ReadFile("../../format/j9meta/testdata/epoch-232.bin")
	if err != nil {
		t.Fatal(err)
	}
	const addr = 0x7f8800001020 // of the code of the metadata
	for want, r := range map[string]jitdump.Record{
		"plain-lines columns file-names sources user tiers unwind close": &jitdump.OpenJ9Metadata{CodeAddr: addr, Base: 0x7e0000000000, PointerSize: 8, Metadata: metadata, Methods: []jitdump.JavaMethod{
			{Method: 0x500000, Class: []byte("a/B"), Name: []byte("f"), Signature: []byte("()V"), File: []byte("a/B.java"), Lines: []jitdump.JavaLine{{Line: 3}, {ByteCodeIndex: 4, Line: 5}}},
		}},
	} {
		var b bytes.Buffer
		w, err := jitdump.NewWriter(&b, &jitdump.Header{Version: 1, Machine: uint32(elf.EM_X86_64), PID: verifytest.PID})
		if err != nil {
			t.Fatal(err)
		}
		code := make([]byte, 0x400)
		for i, r := range []jitdump.Record{r, &jitdump.Load{PID: verifytest.PID, TID: 1, VMA: addr, CodeAddr: addr, CodeSize: uint64(len(code)), Name: []byte("f"), Code: code}} {
			if err := w.Write(uint64(1000+i), r); err != nil {
				t.Fatal(err)
			}
		}
		var rules []string
		notes, _ := reported(t, verifytest.Write(t, t.TempDir(), "jit-4711.dump", b.Bytes()))
		for _, n := range notes {
			rule, _, _ := strings.Cut(n, ":")
			rules = append(rules, rule)
		}
		if got := strings.Join(rules, " "); got != want {
			t.Errorf("%T: got %s; want %s", r, got, want)
		}
	}
}

// Without the option there is no report.
func TestCheck_OnlyIfAsked(t *testing.T) {
	d := whole()
	d.open = true
	rules, _ := verifytest.Verified(t, checks.Verifier(), d.write(t), verify.Options{})
	if slices.ContainsFunc(rules, func(r string) bool { return strings.HasPrefix(r, "producer/") }) {
		t.Errorf("got %q; want no rule of the report", rules)
	}
}

// Each advice has a function of the header, and a heading of the page for authors of runtimes.
func TestRules_ReferencesExist(t *testing.T) {
	header, err := os.ReadFile("../../../producer/jitdump.h")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/producers.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := strings.ToLower(strings.Join(regexp.MustCompile(`(?m)^#+ .*$`).FindAllString(string(page), -1), "\n"))
	for _, r := range checkproducer.Rules {
		functions := regexp.MustCompile(`jitdump_\w+|JITDUMP_\w+`).FindAllString(r.Advice, -1)
		if len(functions) == 0 {
			t.Errorf("%s: got advice %q; want a function of jitdump.h", r.Name, r.Advice)
		}
		for _, f := range functions {
			if !bytes.Contains(header, []byte(f)) {
				t.Errorf("%s: jitdump.h has no %s", r.Name, f)
			}
		}
		section := regexp.MustCompile(`See "(.*)" in docs/producers\.md\.$`).FindStringSubmatch(r.Advice)
		if section == nil || !strings.Contains(headings, strings.ToLower(section[1])) {
			t.Errorf("%s: got advice %q; want one that ends with a section of docs/producers.md", r.Name, r.Advice)
		}
	}
}

// Thousands of lines may share a file with a long name: it is examined once, in a millisecond.
func TestFunction_ExaminesEachFileOnce(t *testing.T) {
	fn := &jitcode.Function{Name: []byte("f"), Size: 2000, Files: []string{strings.Repeat("a", 1<<20), "b"}}
	for i := range 2000 {
		fn.Lines = append(fn.Lines, jitcode.Line{Offset: uint64(i), Line: uint32(i + 1), File: i % 2})
	}
	begun := time.Now()
	if checkproducer.New().Function(fn, false, false); time.Since(begun) > time.Second {
		t.Errorf("got %v for 2000 lines; want less than a second", time.Since(begun))
	}
}
