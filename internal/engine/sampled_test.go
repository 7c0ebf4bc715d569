package engine_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// With --sampled, objects are those that the default has, or where stacks are unwound and neighbours
// share objects, the same functions. The gate compares what perf shows of them.
func TestSampled_ObjectsOfDefault(t *testing.T) {
	for _, in := range []struct{ recording, file string }{
		{"node-fp", "perf.data"}, {"node-forks", "perf.data"}, {"node-threads", "perf.data.dir"}, {"node-pipe", "perf.pipe.data"},
		{"node-noclock", "perf.data"}, {"erlang", "perf.data"}, {"php", "perf.data"}, {"lli-hot", "perf.data"}, {"toyjit", "perf.data"},
		{"node-dwarf", "perf.data"}, {"php-dwarf", "perf.data"}, {"toyjit-dwarf", "perf.data"},
	} {
		t.Run(in.recording, func(t *testing.T) {
			dir := testrec.Unpack(t, in.recording)
			opts := config.Options{
				Input: filepath.Join(dir, in.file), Output: filepath.Join(dir, "all.data"), Objects: filepath.Join(dir, "objects"), DumpDirs: []string{dir},
			}
			all, err := engine.Run(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			stacks := strings.Contains(in.recording, "dwarf")
			opts.Output, opts.Sampled = filepath.Join(dir, "sampled.data"), true
			if stacks {
				opts.Objects = filepath.Join(dir, "sampled")
			}
			sampled, err := engine.Run(t.Context(), opts)
			if err != nil || len(sampled.Notes) > 0 {
				t.Fatalf("got %s, %v; want no error, no notes", asJSON(sampled), err)
			}
			t.Logf("%d of %d objects", sampled.Objects, all.Objects)
			if stacks {
				checkSubset(t, filepath.Join(dir, "objects"), filepath.Join(dir, "all.data"), opts.Objects, opts.Output)
			} else if sampled.Unchanged != sampled.Objects {
				t.Errorf("of %d objects, %d are those that were there", sampled.Objects, sampled.Unchanged)
			}
			untouched, functions := 0, 0
			for i := range sampled.Dumps {
				untouched += sampled.Dumps[i].Unreferenced
				functions += sampled.Dumps[i].Functions - sampled.Dumps[i].Empty
			}
			if sampled.Objects == 0 || untouched == 0 || untouched >= functions {
				t.Errorf("%d objects and %d functions left out, of %d", sampled.Objects, untouched, functions)
			}
		})
	}
}

// checkSubset wants the functions in the objects of one directory to be in those of
// another one, with the same code, and not all of them.
func checkSubset(t *testing.T, all, allResult, some, someResult string) {
	t.Helper()
	type key struct {
		name   string
		memory uint64
		code   string
	}
	keys := func(dir, result string) map[key]bool {
		found := make(map[key]bool)
		for name, spots := range spotsOf(t, dir, result) {
			for _, s := range spots {
				found[key{name, s.memory, string(s.code(t))}] = true
			}
		}
		return found
	}
	there := keys(all, allResult)
	n := 0
	for k := range keys(some, someResult) {
		if n++; !there[k] {
			t.Errorf("%s at %#x, with %d bytes of code, is in no object of the whole", k.name, k.memory, len(k.code))
		}
	}
	if n == 0 || n >= len(there) {
		t.Errorf("%d functions in objects, of %d", n, len(there))
	}
}

// A touching is a world in which functions of one page each are touched.
type touching struct {
	*world
	time  uint64
	loads []timed
	want  []string // names of those that are touched
}

func newTouching(t *testing.T) *touching {
	w := &touching{world: newWorld(t), time: 2000}
	w.opts.Sampled = true
	w.opts.Objects = w.path("objects")
	return w
}

const pageOfCode = 0x1000

// load adds a function and returns where it is; it is touched if a name is given
// that does not begin with "un".
func (w *touching) load(pid uint32, name string) uint64 {
	index := uint64(len(w.loads))
	addr := 0x7f1200000000 + index*pageOfCode
	w.loads = append(w.loads, load(1500, pid, index, addr, name, code(64, byte(index))))
	if !strings.HasPrefix(name, "un") {
		w.want = append(w.want, name)
	}
	return addr
}

// touch adds a sample; what it does not say touches nothing.
func (w *touching) touch(s testrec.Touch) {
	s.Time = w.time
	w.time += 100
	w.Touch(s)
}

// made returns the names of the functions that have objects, in the order in which they
// were loaded, and injects first.
func (w *touching) made() (names []string, sum *report.Summary) {
	w.t.Helper()
	w.dump("jit-100.dump", x86(100), w.loads...)
	sum, err := w.run()
	if err != nil || !sum.Complete() {
		w.t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	return w.objects(), sum
}

func (w *touching) objects() (names []string) {
	w.t.Helper()
	spots := spotsOf(w.t, w.opts.Objects, w.opts.Output)
	for i := range w.loads {
		l := w.loads[i].rec.(*jitdump.Load)
		name := string(l.Name)
		if spots[name] == nil {
			continue
		}
		s := only(w.t, spots, name)
		if alone := fmt.Sprintf("jitted-%d-%d.so", l.PID, l.CodeIndex); s.memory == 0 && filepath.Base(s.object) != alone || s.memory != 0 && s.memory != l.CodeAddr {
			w.t.Errorf("%s, of index %d at %#x, is in %s at %#x", name, l.CodeIndex, l.CodeAddr, s.object, s.addr)
		}
		if code := s.code(w.t); !bytes.Equal(code, l.Code) {
			w.t.Errorf("the code of %s is % x, want % x", name, code, l.Code)
		}
		names = append(names, name)
		delete(spots, name)
	}
	for name := range spots {
		w.t.Errorf("%s is in an object and was not loaded", name)
	}
	return names
}

// Each way in which a record can touch a function, and functions that nothing
// touches, with and without copies of stacks.
func TestSampled_EveryKindOfReference(t *testing.T) {
	const all = testrec.IP | testrec.TID | testrec.Time | testrec.Addr | testrec.Period | testrec.Callchain | testrec.Branches | testrec.RegsUser | testrec.RegsIntr
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		for _, stacks := range []uint64{0, testrec.StackUser} {
			w := newTouching(t)
			w.Order, w.SampleType, w.Registers = order, all|stacks, 1<<7|1<<8
			w.mark(100, 1000, "jit-100.dump")
			w.Comm(200, 1000, "other", true)
			none := []uint64{1, 2}
			s := testrec.Touch{PID: 100, ABI: 2, User: none, Intr: none}
			with := func(f func(*testrec.Touch)) {
				c := s
				f(&c)
				w.touch(c)
			}
			with(func(c *testrec.Touch) { c.IP = w.load(100, "address") })
			w.load(100, "untouched1")
			with(func(c *testrec.Touch) { c.Chain = []uint64{^uint64(511), w.load(100, "caller") + 8} })
			with(func(c *testrec.Touch) { c.Chain = []uint64{^uint64(511), w.load(100, "behind_a_last_call") + 64} })
			with(func(c *testrec.Touch) { c.Chain = []uint64{^uint64(511), w.load(100, "untouched2") + 65} })
			with(func(c *testrec.Touch) { c.Branches = [][2]uint64{{w.load(100, "from") + 63, w.load(100, "to")}} })
			with(func(c *testrec.Touch) { c.User = []uint64{1, w.load(100, "user_register")} })
			with(func(c *testrec.Touch) { c.Intr = []uint64{w.load(100, "interrupt_register"), 2} })
			with(func(c *testrec.Touch) { c.Addr = w.load(100, "data") + 32 })
			with(func(c *testrec.Touch) { c.PID = 200; c.IP = w.load(100, "untouched_but_by_another_process") })
			if stacks != 0 {
				for _, name := range []string{"first_word", "last_word"} {
					with(func(c *testrec.Touch) {
						words := []uint64{3, 4, 5}
						words[map[string]int{"first_word": 0, "last_word": 2}[name]] = w.load(100, name) + 16
						for _, word := range words {
							c.Stack = order.AppendUint64(c.Stack, word)
						}
					})
				}
			}
			w.Deferred(100, w.time, 7, w.load(100, "deferred")+4)
			w.load(100, "untouched3")
			names, sum := w.made()
			if !slices.Equal(names, w.want) {
				t.Errorf("for %v, stacks %v: got objects %q, want %q", order, stacks != 0, names, w.want)
			}
			if d := sum.Dumps[0]; d.Unreferenced != len(w.loads)-len(w.want) || d.Functions != len(w.loads) || sum.Mappings != len(w.want) || len(sum.Notes) != 0 {
				t.Errorf("got %s; want d.Unreferenced = %v, d.Functions = %v, Mappings = %v, no notes", asJSON(sum), len(w.loads)-len(w.want), len(w.loads), len(w.want))
			}
		}
	}
}

// Functions of one address are all there if one of them is touched: which of them it
// was is perf's to find out.
func TestSampled_AddressUsedAgain(t *testing.T) {
	w := newWorld(t)
	w.opts.Sampled = true
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 2100, 0x10008, "alpha+0x8")
	w.expect(100, 3100, 0x10008, "beta+0x8")
	w.expect(100, 3200, 0x20008, "")
	w.expect(100, 4100, 0x30008, "moved+0x8")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x10000, "alpha", code(64, 1)), load(3000, 100, 2, 0x10000, "beta", code(64, 2)),
		load(3300, 100, 3, 0x20000, "moved", code(64, 3)), move(4000, 100, 3, 0x20000, 0x30000, 64),
		load(3300, 100, 4, 0x40000, "untouched", code(64, 3)), move(4000, 100, 4, 0x40000, 0x50000, 64))
	if sum := w.check(); sum.Objects != 3 || sum.Dumps[0].Unreferenced != 1 {
		t.Errorf("got %s; want Objects = 3, Dumps[0].Unreferenced = 1", asJSON(sum))
	}
}

// Samples of a child count for what its parent had when it was forked, and for what
// the recording tells of the parent alone.
func TestSampled_ForkedChildren(t *testing.T) {
	w := newWorld(t)
	w.opts.Sampled = true
	w.mark(100, 1000, "jit-100.dump")
	w.Fork(200, 100, 2500)
	w.Fork(300, 200, 2600)
	w.expect(200, 2700, 0x10008, "alpha+0x8")
	w.expect(300, 2800, 0x20008, "beta+0x8")
	w.expect(200, 3100, 0x40008, "own+0x8")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x10000, "alpha", code(64, 1)), load(2100, 100, 2, 0x20000, "beta", code(64, 2)),
		load(2200, 100, 3, 0x30000, "untouched", code(64, 3)), load(3000, 200, 4, 0x40000, "own", code(64, 4)))
	if sum := w.check(); sum.Objects != 3 || sum.Dumps[0].Unreferenced != 1 {
		t.Errorf("got %s; want Objects = 3, Dumps[0].Unreferenced = 1", asJSON(sum))
	}
}

// Return addresses of arm64 may be signed, and pointers tagged, in their upper bits.
func TestSampled_SignedAddresses(t *testing.T) {
	w := newTouching(t)
	w.SampleType = testrec.IP | testrec.TID | testrec.Time | testrec.RegsUser | testrec.StackUser
	w.Registers = 1
	w.mark(100, 1000, "jit-100.dump")
	s := testrec.Touch{PID: 100, ABI: 2, User: []uint64{w.load(100, "tagged") | 0xab<<56}}
	s.Stack = binary.LittleEndian.AppendUint64(nil, w.load(100, "signed")+4|0x2f<<48)
	w.load(100, "untouched")
	w.touch(s)
	h := x86(100)
	h.Machine = uint32(elf.EM_AARCH64)
	w.dump("jit-100.dump", h, w.loads...)
	if sum, err := w.run(); err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	if names := w.objects(); !slices.Equal(names, w.want) {
		t.Errorf("made %q, want %q", names, w.want)
	}
}

// Where it cannot be told what is touched, all functions are there, and the summary
// says why. Nothing is missing then.
func TestSampled_ReferencesUnknown(t *testing.T) {
	for why, prepare := range map[string]func(*touching){
		"hardware trace, which": func(w *touching) {
			w.Raw(71, 0, binary.LittleEndian.AppendUint64(nil, 16)) // AUXTRACE
			w.Payload(make([]byte, 16))
		},
		"pieces of a hardware trace": func(w *touching) {
			w.SampleType |= testrec.Aux
			w.touch(testrec.Touch{PID: 100, Aux: make([]byte, 8)})
		},
		"sample_type 0x2000000": func(w *touching) { w.SampleType |= 1 << 25 },
		"needs 8 bytes, 4 are left": func(w *touching) {
			w.SampleType |= testrec.Callchain
			w.Raw(9, 2, make([]byte, 28)) // ends inside the callchain's count
		},
		"do not name their processes": func(w *touching) { w.SampleType &^= testrec.TID },
	} {
		w := newTouching(t)
		w.mark(100, 1000, "jit-100.dump")
		w.load(100, "untouched")
		w.SampleType &^= testrec.Period
		prepare(w)
		names, sum := w.made()
		if len(names) != 1 || len(sum.Notes) != 1 || !strings.Contains(sum.Notes[0], why) || sum.Dumps[0].Unreferenced != 0 {
			t.Errorf("%s: got %q, %s; want 1 name, 1 note, Notes[0] with why, Dumps[0].Unreferenced = 0", why, names, asJSON(sum))
		}
	}
}

// A pipe gives what the same in a file gives, bundles too.
func TestSampled_Pipe(t *testing.T) {
	dir := testrec.Unpack(t, "node-pipe")
	t.Chdir(dir)
	for _, bundle := range []bool{false, true} {
		opts := config.Options{Input: "perf.pipe.data", Output: "file.data", Objects: "objects", Sampled: true, Bundle: bundle}
		file, err := engine.Run(t.Context(), opts)
		if err != nil || !file.Complete() || len(file.Notes) != 0 || file.Objects == 0 || file.Objects > 1000 {
			t.Errorf("got %+v, %v; want no error, nothing missing, no notes, 0 < Objects <= 1000", file, err)
		}
		opts.Input, opts.Stdin, opts.Output = "-", feed(t, read(t, "perf.pipe.data"), 5000), "piped.data"
		piped, err := engine.Run(t.Context(), opts)
		if err != nil || piped.Unchanged != file.Objects || piped.Objects != file.Objects || !bytes.Equal(read(t, "piped.data"), read(t, "file.data")) {
			t.Errorf("got %+v, %v; want the %d objects of the file, and its result", piped, err, file.Objects)
		}
	}
}

// Nothing touched, nothing made; and that is no failure.
func TestSampled_NothingReferenced(t *testing.T) {
	w := newTouching(t)
	w.mark(100, 1000, "jit-100.dump")
	w.load(100, "untouched")
	w.Sample(100, 2000, 0x1234)
	names, sum := w.made()
	if len(names) != 0 || sum.Mappings != 0 || sum.Dumps[0].Unreferenced != 1 {
		t.Errorf("got %q, %s; want no names, Mappings = 0, Dumps[0].Unreferenced = 1", names, asJSON(sum))
	}
	if out := read(t, w.opts.Output); regexp.MustCompile(`jitted-|jit-100`).Match(out) {
		t.Error("the result has mappings of jitted code")
	}
}

// A trace of a process without jitted code touches nothing, whoever else has some.
func TestSampled_TraceOfOtherProcess(t *testing.T) {
	w, s := tracedWorld(t)
	s.pid = tracePID + 100
	s.threads = map[uint32][]calls.Step{s.pid: steps("10+1 20+2 25-2 40-1")}
	w.fillTraced()
	w.opts.Sampled = true
	engine.SetTraces(t, s)
	sum, err := w.run()
	if err != nil || !sum.Complete() || sum.Traces[0].Calls != 2 || sum.Objects != 3 {
		t.Fatalf("got %s, %v; want no error, nothing missing, Traces[0].Calls = 2, Objects = 3", asJSON(sum), err)
	}
}

// Where stacks are unwound, functions and tables are where the default has them: what is dropped leaves
// its place free. Other regions would have other modules in libdw, and tables might find no place.
func TestSampled_RegionsOfDefault(t *testing.T) {
	for _, name := range []string{"node22-dwarf", "php84-dwarf", "node25-workers"}[:testrec.Rounds(3, 2)] {
		dir := testrec.Place(t, name)
		objects := func(sampled, bundle bool) (list []mapping) {
			opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"), Sampled: sampled, Bundle: bundle}
			if _, err := engine.Run(t.Context(), opts); err != nil {
				t.Fatal(err)
			}
			for _, m := range readMappings(t, opts.Output).all {
				if strings.HasSuffix(string(m.Filename), ".so") && strings.HasPrefix(string(m.Filename), opts.Objects) {
					list = append(list, m)
				}
			}
			return list
		}
		for _, bundle := range []bool{false, true} {
			all, sampled := objects(false, bundle), objects(true, bundle)
			if len(sampled) == 0 {
				t.Errorf("%s: got no mappings; want some of %d", name, len(all))
			}
			for _, m := range sampled {
				// The start of a file is mapped before its parts, where nothing else is.
				if m.PgOff != 0 && !t.Failed() && !slices.ContainsFunc(all, func(d mapping) bool {
					return d.PID == m.PID && d.time <= m.time && d.Addr <= m.Addr && m.Addr+m.Len <= d.Addr+d.Len
				}) {
					t.Errorf("%s: got a mapping at %#x, %d bytes, at %d of process %d, which the default does not have", name, m.Addr, m.Len, m.time, m.PID)
				}
			}
		}
	}
}
