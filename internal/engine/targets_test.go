package engine_test

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// branch is code of 64 bytes with a call of another function behind 8 bytes.
func branch(from, to uint64) []byte {
	b := code(64, 1)
	b[8] = 0xe8
	binary.LittleEndian.PutUint32(b[9:], uint32(to-from-13))
	return b
}

// Functions that a touched one branches to are there, but not those that these branch
// to, nor the neighbours of either; and so it is in children that load them, and where
// code has moved.
func TestSampled_BranchTargets(t *testing.T) {
	w := newWorld(t)
	w.opts.Sampled = true
	w.mark(100, 1000, "jit-100.dump")
	w.Fork(200, 100, 2500)
	w.expect(100, 2400, 0x10008, "caller+0x8")
	w.expect(200, 3600, 0x50008, "inherited+0x8")
	w.expect(100, 4200, 0x90008, "moved+0x8")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x10000, "caller", branch(0x10000, 0x20040)),
		load(2000, 100, 2, 0x20000, "neighbour", code(64, 2)),
		load(2000, 100, 3, 0x20040, "callee", branch(0x20040, 0x30000)),
		load(2000, 100, 4, 0x20080, "behind", code(64, 4)),
		load(2000, 100, 5, 0x30000, "further", code(64, 5)),
		load(2000, 100, 6, 0x50000, "inherited", branch(0x50000, 0x60010)),
		load(3000, 200, 7, 0x60000, "own", code(64, 7)), // entered in the middle
		load(2000, 100, 8, 0x80000, "moved", branch(0x90000, 0xa0000)),
		load(2000, 100, 9, 0xa0000, "of_moved", code(64, 9)),
		load(2000, 100, 10, 0x90000+64, "beside", code(64, 10)),
		move(4000, 100, 8, 0x80000, 0x90000, 64))
	sum := w.check()
	var names []string
	eachSymbol(t, w.dir, func(name string) { names = append(names, name) })
	slices.Sort(names)
	if want := []string{"callee", "caller", "inherited", "moved", "of_moved", "own"}; !slices.Equal(names, want) || sum.Dumps[0].Unreferenced != 4 {
		t.Errorf("made %q, want %q; %d are untouched", names, want, sum.Dumps[0].Unreferenced)
	}
}

// eachSymbol calls f with the functions of the objects in a directory.
func eachSymbol(t *testing.T, dir string, f func(name string)) {
	paths, _ := filepath.Glob(filepath.Join(dir, "jit*.so"))
	for _, path := range paths {
		e, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		syms, err := e.Symbols()
		e.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range syms {
			f(s.Name)
		}
	}
}

// Touched code may be no code at all: nothing comes of it, whatever machine it is for.
func TestSampled_ReferencedDataIsNoCode(t *testing.T) {
	for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_386, elf.EM_AARCH64, elf.EM_ARM, elf.EM_PPC64, elf.EM_RISCV, elf.EM_S390, elf.EM_LOONGARCH, elf.EM_MIPS} {
		w := newTouching(t)
		w.mark(100, 1000, "jit-100.dump")
		w.SampleType = testrec.IP | testrec.TID | testrec.Time
		addr := w.load(100, "data")
		w.load(100, "untouched")
		data := make([]byte, 251)
		for i := range data {
			data[i] = byte(255 - i)
		}
		w.loads[0].rec.(*jitdump.Load).Code = data
		w.touch(testrec.Touch{PID: 100, IP: addr})
		h := x86(100)
		h.Machine = uint32(machine)
		w.dump("jit-100.dump", h, w.loads...)
		if sum, err := w.run(); err != nil || !sum.Complete() {
			t.Fatalf("for %v: got %s, %v; want no error, nothing missing", machine, asJSON(sum), err)
		}
		if names := w.objects(); !slices.Contains(names, "data") {
			t.Errorf("for %v: got objects %q; want one called data", machine, names)
		}
	}
}

// Of the functions that have samples, perf annotate shows the same with all functions and
// with those that are touched, in objects of their own and in bundles: addresses in
// objects are different, names of what branches lead to are not. Only where two functions
// are in one bundle that were in two, there may be a name where none was.
func TestSampled_AnnotateShowsTheSame(t *testing.T) {
	objdump := testrec.Tool(t, "objdump")
	recordings, forms := []string{"php", "lli-hot", "toyjit"}, []string{"--stdio"}
	if os.Getenv("JITINJECT_ALL") != "" {
		recordings, forms = append(recordings, "erlang"), append(forms, "--stdio2")
	}
	for _, name := range recordings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := testrec.Place(t, name)
			sizes := make(map[string]uint64)
			for _, bundle := range []bool{false, true} {
				outputs := make(map[bool]string)
				var dsos []string // or perf annotates all libraries, too
				for _, sampled := range []bool{false, true} {
					output := filepath.Join(dir, fmt.Sprintf("%v-%v.data", bundle, sampled))
					objects := filepath.Join(dir, fmt.Sprintf("objects-%v-%v", bundle, sampled))
					_, err := engine.Run(t.Context(), config.Options{
						Input: filepath.Join(dir, "perf.data"), Output: output, Objects: objects,
						DumpDirs: []string{dir}, Bundle: bundle, Sampled: sampled,
					})
					if err != nil {
						t.Fatal(err)
					}
					outputs[sampled] = output
					if files, err := os.ReadDir(objects); err == nil && (bundle || sampled) {
						for _, file := range files {
							if !slices.Contains(dsos, file.Name()) {
								dsos = append(dsos, file.Name())
							}
						}
					}
					if bundle && !sampled {
						symbolSizes(t, objects, sizes)
					}
				}
				for version, perf := range testrec.Perfs(t) {
					for _, form := range forms {
						crashes := false
						show := func(sampled bool) []string {
							out, err := testrec.Command(t, dir, perf, "annotate", form, "-f", "--objdump="+objdump, "--dsos", strings.Join(dsos, ","), "-i", outputs[sampled]).Output()
							var ended *exec.ExitError
							if errors.As(err, &ended) && !ended.Exited() {
								crashes = true
							} else if err != nil {
								t.Fatalf("perf %s annotate %s: %v", version, form, err)
							}
							return branches(inOrder(string(out)), sizes)
						}
						want, got := show(false), show(true)
						if crashes { // perf 6.12 does, on perf inject's output, too
							t.Logf("SKIPPED: perf %s annotate %s crashes", version, form)
							continue
						}
						for i := range min(len(want), len(got)) {
							if bundle && strings.HasSuffix(want[i], nowhere) {
								got[i] = want[i]
							}
						}
						if !slices.Equal(want, got) || len(want) == 0 {
							a, b := firstDifference(strings.Join(want, "\n"), strings.Join(got, "\n"))
							t.Errorf("perf %s annotate %s, bundle %v: %d and %d lines:\n%s\n%s", version, form, bundle, len(want), len(got), a, b)
						}
					}
				}
			}
		})
	}
}

// symbolSizes adds how large the functions of the objects in a directory are. Of those
// of one name, the largest counts.
func symbolSizes(t *testing.T, dir string, sizes map[string]uint64) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		e, err := elf.Open(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		syms, err := e.Symbols()
		e.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range syms {
			sizes[s.Name] = max(sizes[s.Name], s.Size)
		}
	}
}

var (
	annotatedBranch = regexp.MustCompile(`\b(call|jmp|j[a-z]{1,3})\s+(\S.*)`)
	annotatedSymbol = regexp.MustCompile(`^(?:[0-9a-f]+ <)?(.*?)(?:([+-])0x([0-9a-f]+))?>?$`)
)

const nowhere = " nowhere"

// annotatedFunction is where perf annotate names a function that it shows, with --stdio or with --stdio2.
var annotatedFunction = regexp.MustCompile(`(?m)[0-9a-f]{16} <(.*)>:|^(.+)\(\) /\S+$`)

// inOrder sorts the functions that perf annotate shows by their names. perf sorts those with equally
// many samples by the names of their objects, which differ between layouts.
func inOrder(out string) string {
	functions := strings.Split(strings.ReplaceAll(out, "\nSamples: ", "\n Percent |"), "\n Percent |")
	name := func(text string) string {
		if m := annotatedFunction.FindStringSubmatch(text); m != nil {
			return m[1] + m[2]
		}
		return ""
	}
	slices.SortStableFunc(functions, func(a, b string) int { return cmp.Compare(name(a), name(b)) })
	return strings.Join(functions, "\n")
}

// branches returns what perf annotate shows of branches. The address of an object is left
// out, and so is a symbol that the target is not in: that is objdump's nearest one.
func branches(out string, sizes map[string]uint64) (lines []string) {
	for line := range strings.Lines(out) {
		m := annotatedBranch.FindStringSubmatch(strings.TrimRight(line, "\n "))
		if m == nil {
			continue
		}
		to := strings.TrimSpace(m[2])
		if s := annotatedSymbol.FindStringSubmatch(to); s != nil {
			at, _ := strconv.ParseUint(s[3], 16, 64)
			size, jitted := sizes[s[1]]
			switch {
			case jitted && (s[2] == "-" || at >= size):
				to = nowhere[1:]
			case jitted:
				to = s[1] + "+" + s[3]
			}
		}
		lines = append(lines, m[1]+" "+to)
	}
	return lines
}
