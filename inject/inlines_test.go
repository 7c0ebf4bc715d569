package inject_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/jitobj"
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
	sum, err := inject.Run(context.Background(), inject.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: objects, DWARF: dwarf})
	if err != nil || !sum.Complete() || len(sum.Dumps) != 1 || sum.Dumps[0].Functions != 13 {
		t.Fatalf("%+v, %v", sum, err)
	}
	return out, objects
}

// toyLoads returns the functions that the toy JIT loaded, without their code.
func toyLoads(t *testing.T, dir string) (pid uint32, loads []jitdump.Load) {
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
	return r.Header().PID, loads
}

// The addr2lines of three projects, gdb and every perf say of each instruction what
// the JIT says of it.
func TestLiveInlines(t *testing.T) {
	t.Run("fp", func(t *testing.T) { checkInlines(t, recordToy(t, "fp"), false) })
	// perf 6 shows inlined functions in call chains from stack copies only.
	t.Run("dwarf", func(t *testing.T) { checkInlines(t, recordToy(t, "dwarf,1024"), true) })
}

// The same of recordings, for machines on which perf cannot record.
func TestRecordedInlines(t *testing.T) {
	t.Run("fp", func(t *testing.T) { checkInlines(t, testrec.Place(t, "toyjit"), false) })
	t.Run("dwarf", func(t *testing.T) { checkInlines(t, testrec.Place(t, "toyjit-dwarf"), true) })
}

func checkInlines(t *testing.T, dir string, mustShow bool) {
	truth := testrec.ToyTruth(t, dir)
	pid, loads := toyLoads(t, dir)
	verifier := testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump")
	for _, dwarf := range []int{4, 5} {
		out, objects := injectToy(t, dir, dwarf)
		t.Run(fmt.Sprint("objects, DWARF ", dwarf), func(t *testing.T) {
			var names []string
			for _, l := range loads {
				name := fmt.Sprintf("jitted-%d-%d.so", pid, l.CodeIndex)
				names = append(names, name)
				checkInlineObject(t, filepath.Join(objects, name), truth[string(l.Name)])
			}
			verify := testrec.Run(t, objects, verifier, append([]string{"--verify"}, names...)...)
			if n := strings.Count(verify, "No errors."); n != len(names) || strings.Contains(verify, "warning:") {
				t.Errorf("llvm-dwarfdump finds %d of %d objects right:\n%s", n, len(names), verify)
			}
		})
		for version, perf := range testrec.Perfs(t) {
			t.Run(fmt.Sprintf("perf %s, DWARF %d", version, dwarf), func(t *testing.T) {
				shown := checkPerfInlines(t, dir, perf, out, truth, loads)
				t.Logf("%d inlined functions are shown", shown)
				if shown == 0 && mustShow {
					t.Error("no inlined function is shown")
				}
			})
		}
	}
}

// checkInlineObject asks every symbolizer about the first and the last byte of
// every instruction.
func checkInlineObject(t *testing.T, object string, truth []testrec.ToyInsn) {
	t.Helper()
	var addrs []uint64
	var want [][]testrec.Frame
	for _, insn := range truth {
		addrs = append(addrs, jitobj.TextOffset+uint64(insn.Offset), jitobj.TextOffset+uint64(insn.Offset+insn.Length-1))
		want = append(want, insn.Stack, insn.Stack)
	}
	for _, s := range testrec.Symbolizers(t) {
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
