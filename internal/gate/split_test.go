package gate

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
)

// TestTwoDumps_NoStackIsShorter divides the dump of a process into two with every second function each, as
// two compilers in one process would write them. libdw refuses modules that overlap, whichever dump they are
// made from. So stacks must be those of the one dump.
func TestTwoDumps_NoStackIsShorter(t *testing.T) {
	testrec.Tool(t, "perf")
	for _, name := range []string{"toyjit-dwarf", "llvm-orc", "php84-dwarf", "node24-debian", "node-dwarf"} {
		t.Run(name, func(t *testing.T) {
			whole, divided := testrec.Place(t, name), testrec.Place(t, name)
			divide(t, divided)
			perfs := testrec.Perfs(t)
			for _, m := range modes[:3] {
				one, two := injectAs(t, whole, m.bundle, m.sampled), injectAs(t, divided, m.bundle, m.sampled)
				if len(one.Dumps) != 1 || len(two.Dumps) != 2 {
					t.Fatalf("%s: got %d and %d dumps; want 1 and 2", m.name, len(one.Dumps), len(two.Dumps))
				}
				for version, perf := range perfs {
					want, err := judge.Script(t.Context(), perf, one.Output)
					if err != nil {
						t.Fatal(err)
					}
					got, err := judge.Script(t.Context(), perf, two.Output)
					if err != nil {
						t.Fatal(err)
					}
					t.Logf("%s: %s: %v; of two dumps: %v", m.name, version, judge.CountOf(want), judge.CountOf(got))
					report(t, m.name+": "+version+": two dumps beside one", judge.Real(judge.Compare(want, got)))
				}
			}
		})
	}
}

// injectAs injects a recording in a layout.
func injectAs(t *testing.T, dir string, bundle, sampled bool) *inject.Summary {
	t.Helper()
	sum, err := inject.Run(t.Context(), inject.Options{
		Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"),
		Objects: t.TempDir(), Bundle: bundle, Sampled: sampled,
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// divide leaves every second function in the dump of an unpacked recording. The others are in a dump of
// another name, which the process maps as well.
func divide(t *testing.T, dir string) {
	t.Helper()
	le, path := binary.LittleEndian, testrec.Dumps(t, dir)[0]
	dump, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header := le.Uint32(dump[8:])
	parts := [2][]byte{bytes.Clone(dump[:header]), bytes.Clone(dump[:header])}
	of := 0
	for rest := dump[header:]; len(rest) >= 16; {
		id, size := le.Uint32(rest), le.Uint32(rest[4:])
		parts[of] = append(parts[of], rest[:size]...)
		if id == 0 { // JIT_CODE_LOAD: records about the function come before it
			of = 1 - of
		}
		rest = rest[size:]
	}
	second := filepath.Join(dir, "jit-1.dump")
	for i, file := range []string{path, second} {
		if err := os.WriteFile(file, parts[i], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const head, trailer = 72, 16 // MMAP2 records: a name after head bytes, before trailer bytes
	err = testrec.Rewrite(dir, func(in []byte) (out []byte) {
		for rec := range testrec.Records(in) {
			out = append(out, rec...)
			if name, _ := testrec.MappedFile(rec); filepath.Base(name) != filepath.Base(path) {
				continue
			}
			named := append([]byte(second), make([]byte, 8-len(second)%8)...)
			marker := append(append(bytes.Clone(rec[:head]), named...), rec[len(rec)-trailer:]...)
			le.PutUint16(marker[6:], uint16(len(marker)))
			le.PutUint64(marker[16:], le.Uint64(rec[16:])+1<<20)
			le.PutUint64(marker[48:], le.Uint64(rec[48:])+1) // another inode
			out = append(out, marker...)
		}
		return out
	})
	if err != nil {
		t.Fatal(err)
	}
}
