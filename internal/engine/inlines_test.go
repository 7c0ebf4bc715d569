package engine_test

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Inline stacks, from a JIT's records to what people see: the toy JIT of testdata
// says by itself what every instruction comes from.

// recordToy records the toy JIT in a fresh directory.
func recordToy(t *testing.T, callGraph string) (dir string) {
	t.Helper()
	testrec.CanRecord(t)
	dir = t.TempDir()
	jit := testrec.ToyJIT(t, t.TempDir())
	args := []string{"record", "-q", "-e", "cpu-clock", "-F", "499", "-k", "mono", "--call-graph", callGraph, "-o", "perf.data", jit, dir, "0.5"}
	testrec.Run(t, dir, testrec.Tool(t, "perf"), append(args, testrec.ToySources()...)...)
	return dir
}

// injectToy injects a recording of the toy JIT; its objects are in objects.
func injectToy(t *testing.T, dir string, dwarf int) (out, objects string) {
	t.Helper()
	out, objects = filepath.Join(dir, fmt.Sprintf("out%d.data", dwarf)), filepath.Join(dir, fmt.Sprint("objects", dwarf))
	sum, err := engine.Run(context.Background(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: objects, DWARF: dwarf})
	if err != nil || !sum.Complete() || len(sum.Dumps) != 1 || sum.Dumps[0].Functions != 13 {
		t.Fatalf("got %s, %v; want no error, nothing missing, 1 dump, Dumps[0].Functions = 13", asJSON(sum), err)
	}
	return out, objects
}

// toyLoads returns the functions that the toy JIT loaded, without their code.
func toyLoads(t *testing.T, dir string) (loads []jitdump.Load) {
	t.Helper()
	f, err := os.Open(testrec.Dumps(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := jitdump.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for raw, err := r.Next(); err == nil; raw, err = r.Next() {
		if raw.ID != jitdump.IDLoad {
			continue
		}
		l, err := raw.Load()
		if err != nil {
			t.Fatal(err)
		}
		l.Name, l.Code = slices.Clone(l.Name), nil
		loads = append(loads, l)
	}
	return loads
}

// The addr2lines of three projects, gdb and every perf say of each instruction what
// the JIT says of it.
func TestInlines_FreshToyJIT(t *testing.T) {
	testrec.Fresh(t)
	t.Run("fp", func(t *testing.T) { checkInlines(t, recordToy(t, "fp"), false, 4, 5) })
	// perf 6 shows inlined functions in call chains from stack copies only.
	t.Run("dwarf", func(t *testing.T) { checkInlines(t, recordToy(t, "dwarf,1024"), true, 4, 5) })
}

// The same of recordings.
func TestInlines_RecordedToyJIT(t *testing.T) {
	t.Run("fp", func(t *testing.T) { checkInlines(t, testrec.Place(t, "toyjit"), false, 4) })
	t.Run("dwarf", func(t *testing.T) { checkInlines(t, testrec.Place(t, "toyjit-dwarf"), true, 5) })
}

// checkInlines injects with the given versions of DWARF.
func checkInlines(t *testing.T, dir string, mustShow bool, versions ...int) {
	truth := testrec.ToyTruth(t, dir)
	loads := toyLoads(t, dir)
	for _, dwarf := range versions {
		out, objects := injectToy(t, dir, dwarf)
		spots := spotsOf(t, objects, "")
		t.Run(fmt.Sprint("objects, DWARF ", dwarf), func(t *testing.T) {
			for _, l := range loads {
				at := only(t, spots, string(l.Name))
				if at.size != l.CodeSize {
					t.Errorf("%s has %d bytes, want %d", l.Name, at.size, l.CodeSize)
				}
				checkInlineObject(t, at.object, at.addr, truth[string(l.Name)])
			}
			var names []string
			for _, path := range objectPaths(t, objects) {
				names = append(names, filepath.Base(path))
			}
			verifyObjects(t, objects, names)
		})
		for version, perf := range testrec.Perfs(t) {
			t.Run(fmt.Sprintf("perf %s, DWARF %d", version, dwarf), func(t *testing.T) {
				shown := checkPerfInlines(t, dir, perf, out, &toyCode{truth, loads, spots})
				t.Logf("%d inlined functions are shown", shown)
				if shown == 0 && mustShow {
					t.Error("no inlined function is shown")
				}
			})
		}
	}
}

// checkInlineObject asks symbolizers, all or those named, about the first and the
// last byte of every instruction of the function at an address of an object.
func checkInlineObject(t *testing.T, object string, addr uint64, truth []testrec.ToyInsn, tools ...string) {
	t.Helper()
	var addrs []uint64
	var want [][]testrec.Frame
	for _, insn := range truth {
		addrs = append(addrs, addr+uint64(insn.Offset), addr+uint64(insn.Offset+insn.Length-1))
		want = append(want, insn.Stack, insn.Stack)
	}
	for _, s := range testrec.Symbolizers(t) {
		if len(tools) > 0 && !slices.Contains(tools, s.Name) {
			continue
		}
		bad := 0
		for i, got := range s.Stacks(t, object, addrs) {
			want := slices.Clone(want[i])
			for j := range want {
				if !s.Columns {
					want[j].Column = 0
				}
			}
			if !slices.Equal(got, want) {
				if bad++; bad <= 5 {
					t.Errorf("%s, %s: %#x is\n%v, want\n%v", s.Name, filepath.Base(object), addrs[i], got, want)
				}
			}
		}
		if bad > 0 {
			t.Errorf("%s, %s: %d of %d addresses are wrong", s.Name, filepath.Base(object), bad, len(addrs))
		}
	}
}

// The same inline trees in code of other machines: 32 and 64 bit, both byte
// orders, and from dumps in that order. Tools that know these are elfutils and LLVM.
func TestInlines_OtherMachines(t *testing.T) {
	dir := testrec.Unpack(t, "toyjit")
	truth := testrec.ToyTruth(t, dir)
	little := testrec.Dumps(t, dir)[0]
	big := filepath.Join(dir, "big")
	put(t, big, swap(t, read(t, little)))
	dumps := map[binary.ByteOrder]string{binary.LittleEndian: little, binary.BigEndian: big}
	for _, machine := range []struct {
		machine elf.Machine
		order   binary.ByteOrder
		dwarf   int
	}{
		{elf.EM_386, binary.LittleEndian, 4}, {elf.EM_PPC, binary.BigEndian, 5}, {elf.EM_ARM, binary.BigEndian, 4},
		{elf.EM_AARCH64, binary.LittleEndian, 5}, {elf.EM_S390, binary.BigEndian, 4}, {elf.EM_PPC64, binary.BigEndian, 5},
	} {
		t.Run(fmt.Sprint(machine.machine, " ", machine.order, ", DWARF ", machine.dwarf), func(t *testing.T) {
			target := jitcode.Target{Machine: uint32(machine.machine), Order: machine.order, HighAddress: 1 << 31}
			b, err := jitobj.NewBuilder(target, jitobj.Options{DWARF: machine.dwarf, CompDir: "/"})
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(dumps[machine.order])
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			dump, err := jitdumps.OpenFile(f)
			if err == nil {
				err = dump.Scan(t.Context())
			}
			if err != nil || len(dump.Events) != len(truth) {
				t.Fatalf("got %+v, %v; want no error, %d events", dump, err, len(truth))
			}
			r := dump.Reader()
			dir := t.TempDir()
			var names []string
			for _, e := range dump.Events {
				fn, err := r.Function(int(e.Function))
				if err != nil {
					t.Fatal(err)
				}
				o, err := b.Build(fn, jitobj.Place{})
				if err != nil {
					t.Fatal(err)
				}
				name := string(fn.Name) + ".so"
				names = append(names, name)
				put(t, filepath.Join(dir, name), o.Bytes)
				checkInlineObject(t, filepath.Join(dir, name), jitobj.TextOffset, truth[string(fn.Name)], "eu-addr2line -i", "llvm-symbolizer --inlines")
			}
			verifyObjects(t, dir, names)
		})
	}
}

// verifyObjects has llvm-dwarfdump look at objects.
func verifyObjects(t *testing.T, dir string, names []string) {
	t.Helper()
	out := testrec.Run(t, dir, testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump"), append([]string{"--verify"}, names...)...)
	if n := strings.Count(out, "No errors."); n != len(names) || strings.Contains(out, "warning:") {
		t.Errorf("llvm-dwarfdump finds %d of %d objects right:\n%s", n, len(names), out)
	}
}
