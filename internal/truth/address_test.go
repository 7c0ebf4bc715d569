package truth

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
)

// twice compiles an object with two functions called twin, at different lines of two files.
// It returns the addresses of both, the marked one first.
func twice(t *testing.T) (path string, marks []Mark, twins []uint64) {
	t.Helper()
	dir := t.TempDir()
	var sources []string
	for name, text := range map[string]string{
		"a.c": "static __attribute__((noinline)) int twin(int x) {\n  return x * 31; // hot: twin\n}\nint a(int x) { return twin(x); }\n",
		"b.c": "\n\n\nstatic __attribute__((noinline)) int twin(int x) {\n  return x * 37;\n}\nint single(int x) {\n  return twin(x); // hot: single\n}\n",
	} {
		sources = append(sources, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range []string{"gcc", "addr2line"} {
		testrec.Tool(t, tool)
	}
	path = filepath.Join(dir, "jitted-1-2.so")
	if out, err := exec.Command("gcc", append([]string{"-O1", "-g", "-shared", "-fPIC", "-o", path}, sources...)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
	marks, err := Marks(sources...)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	addr2line := &Tools[0]
	for i := range symbols {
		if symbols[i].Name == "twin" {
			places, err := addr2line.Places(t.Context(), path, []uint64{symbols[i].Value})
			if err != nil {
				t.Fatal(err)
			}
			if places[0][0].File == "a.c" { // the marked one comes first
				twins = append([]uint64{symbols[i].Value}, twins...)
			} else {
				twins = append(twins, symbols[i].Value)
			}
		}
	}
	if len(twins) != 2 {
		t.Fatalf("the object has %d functions twin", len(twins))
	}
	return path, marks, twins
}

// Of two functions with one name, the address that perf prints decides.
func TestCheck_TwoFunctionsOfOneName(t *testing.T) {
	path, marks, twins := twice(t)
	frame := func(symbol string, printed uint64) judge.Sample {
		return judge.Sample{Frames: []judge.Frame{{Addr: printed, Symbol: symbol, DSO: path}}}
	}
	const load = 0x7f0012345f80 // where the object begins in memory
	whole := []judge.Mapping{{Start: load - 0x1000, Size: 0x2000, File: "/other"}, {Start: load + twins[0], Size: 1 << 20, Offset: twins[0], File: path}, {Start: load + twins[1], Size: 1 << 20, Offset: twins[1], File: path}}
	for _, c := range []struct {
		name     string
		samples  []judge.Sample
		mappings []judge.Mapping
		want     [2]int // right and wrong answers about twin
		err      string
	}{
		{"addresses in the object", []judge.Sample{frame("twin", twins[0]), frame("twin", twins[0]), frame("twin", twins[1])}, nil, [2]int{2, 1}, ""},
		{"addresses in memory", []judge.Sample{frame("twin", load+twins[1]), frame("twin", load+twins[0]), frame("twin", load+twins[1])}, whole, [2]int{1, 2}, ""},
		{"no mapping", []judge.Sample{frame("twin", load+twins[0])}, nil, [2]int{}, "2 symbols twin"},
		{"the mapping of another file", []judge.Sample{frame("twin", load+twins[0])}, []judge.Mapping{{Start: load, Size: 1 << 20, File: "/other"}}, [2]int{}, "2 symbols twin"},
	} {
		verdicts, err := Check(t.Context(), marks, c.samples, c.mappings, Tools[:1])
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i := range verdicts {
			if verdicts[i].Mark.String() != "twin" {
				continue
			}
			a := verdicts[i].Answers[Tools[0].Name]
			if got := [2]int{a.Right, a.Wrong}; !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: got %d right and %d wrong, want %v", c.name, got[0], got[1], c.want)
			}
		}
	}
}
