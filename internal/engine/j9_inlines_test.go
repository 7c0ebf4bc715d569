package engine_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Metadata of OpenJ9, from the dump to what people see: what the stack maps say of
// code, found by package j9meta alone, is what all tools show of it.

// reportInlined is an inlined function in the call graphs of perf report; others than
// those in jitted code are the C library's.
var reportInlined = regexp.MustCompile(`(?m)^[ |]*(?:-{1,2}[\d.]+%--|---)?(\S.*) \(inlined\)$`)

func TestJ9_InlinesByEveryReader(t *testing.T) {
	for _, c := range []struct {
		recording    string
		every        int // see j9Options
		cold, bundle bool
		pieces       int // of code, of each function, that symbolizers are asked about
	}{
		{"node-dwarf", 4, true, false, 20},
		{"node-dwarf", 4, true, true, 3},
		// perf 6.1 prints addresses in objects, which say nothing where two parts are in
		// objects of their own.
		{"toyjit-dwarf", 1, false, false, 20},
		{"toyjit-dwarf", 1, true, true, 20},
	} {
		t.Run(fmt.Sprintf("%s, bundle %v", c.recording, c.bundle), func(t *testing.T) {
			dir := testrec.Place(t, c.recording)
			// perf 6.12 takes a byte beyond ASCII for the end of what addr2line answers, and
			// then answers for those to other questions.
			functions := makeJ9(t, dir, j9Options{every: c.every, cold: c.cold, ascii: c.every == 1})
			code := newJ9Code(functions)
			// perf 7 takes functions that are close together for one another's, unless the
			// objects are called /tmp/jitted-*.
			objects, err := os.MkdirTemp("/tmp", "jitted-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(objects) })
			o := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: objects,
				Sources: filepath.Join(dir, "sources"), Bundle: c.bundle, DWARF: 5}
			if c.bundle {
				o.DWARF = 4
			}
			sum, err := engine.Run(t.Context(), o)
			if err != nil || !sum.Complete() || len(sum.Problems) > 0 || len(sum.Dumps[0].Fixes) > 0 {
				t.Fatalf("got %s, %v; want no error, nothing missing, no problems, no repairs", asJSON(sum), err)
			}
			names := code.find(t, o.Objects)
			if len(code.places) != len(functions) {
				t.Errorf("%d of %d functions are in objects", len(code.places), len(functions))
			}
			names = testrec.Chosen(t, names, 20, 100)
			code.ask(t, functions, names, c.pieces)
			verifyObjects(t, o.Objects, names)
			lintObjects(t, o.Objects, testrec.Tool(t, "eu-elflint"), names)
			if c.every > 1 {
				return // perf takes long for what else is in such a recording
			}
			for version, perf := range testrec.Perfs(t) {
				shown := checkPerfCode(t, dir, perf, o.Output, code)
				t.Logf("perf %s shows %d inlined functions", version, shown)
				report := testrec.Run(t, dir, perf, "report", "--stdio", "--inline", "--no-children", "-g", "caller,0.5,callee", "-i", o.Output)
				reported := reportInlined.FindAllStringSubmatch(report, -1)
				if shown == 0 || len(reported) == 0 {
					t.Errorf("perf %s shows %d inlined functions, %d in its report", version, shown, len(reported))
				}
				for _, m := range reported {
					if !code.jitted(m[1]) && !strings.HasPrefix(m[1], "_") {
						t.Errorf("perf %s reports %q as inlined", version, m[1])
					}
				}
			}
		})
	}
}

// The same of other machines, whose metadata has other sizes, orders and habits. Tools
// that know these are elfutils and LLVM.
func TestJ9_OtherMachines(t *testing.T) {
	for _, l := range []j9meta.Layout{
		{Machine: elf.EM_386, PointerSize: 4, Order: binary.LittleEndian},
		{Machine: elf.EM_ARM, PointerSize: 4, Order: binary.LittleEndian},
		{Machine: elf.EM_AARCH64, PointerSize: 8, Order: binary.LittleEndian},
		{Machine: elf.EM_PPC64, PointerSize: 8, Order: binary.LittleEndian},
		{Machine: elf.EM_PPC64, PointerSize: 8, Order: binary.BigEndian},
		{Machine: elf.EM_S390, PointerSize: 8, Order: binary.BigEndian},
		{Machine: elf.EM_S390, PointerSize: 4, Order: binary.BigEndian},
	} {
		t.Run(fmt.Sprint(l.Machine, " ", l.Order, " ", l.PointerSize), func(t *testing.T) {
			dir := testrec.Place(t, "toyjit-dwarf")
			functions := makeJ9(t, dir, j9Options{every: 1, cold: true, layout: l})
			f, err := os.Open(testrec.Dumps(t, dir)[0])
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			dump, err := jitdumps.OpenFile(f)
			if err == nil {
				err = dump.Scan(t.Context())
			}
			if err != nil || len(dump.Problems) > 0 {
				t.Fatalf("got %+v, %v; want no error, no problems", dump, err)
			}
			target := jitcode.Target{Machine: uint32(l.Machine), Order: l.Order, HighAddress: 1 << 31}
			b, err := jitobj.NewBuilder(target, jitobj.Options{CompDir: "/"})
			if err != nil {
				t.Fatal(err)
			}
			r := dump.Reader()
			for i, e := range dump.Events {
				fn, err := r.Function(int(e.Function))
				if err != nil {
					t.Fatal(err)
				}
				o, err := b.Build(fn, jitobj.Place{})
				if err != nil {
					t.Fatal(err)
				}
				put(t, filepath.Join(dir, fmt.Sprint(i, ".so")), o.Bytes)
			}
			if len(r.Problems) > 0 {
				t.Errorf("got %+v; want no problems", r.Problems)
			}
			code := newJ9Code(functions)
			names := code.find(t, dir)
			code.ask(t, functions, names, 20, "eu-addr2line -i", "llvm-symbolizer --inlines")
			verifyObjects(t, dir, names)
		})
	}
}
