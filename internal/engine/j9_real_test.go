package engine_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Captures of made-up metadata about code that really ran. The code is loops of what does nothing, so that
// samples are everywhere in it.

// idle is n bytes of code: a loop that runs some million instructions.
func idle(n int) []byte {
	b := []byte{0xb9, 0, 0, 0, 0} // mov $turns,%ecx
	binary.LittleEndian.PutUint32(b[1:], uint32(4_000_000/n))
	b = append(b, bytes.Repeat([]byte{0x90}, n-len(b)-9)...)
	b = append(b, 0xff, 0xc9, 0x0f, 0x85) // dec %ecx; jne
	b = binary.LittleEndian.AppendUint32(b, uint32(5-(n-1)))
	return append(b, 0xc3)
}

// calling is n bytes of code at addr that begin and end as OpenJ9's do, with the check for room on the stack, call
// other code, and do what idle does.
func calling(n int, addr, other uint64) []byte {
	b := []byte{0x48, 0x3b, 0x65, 0x50, 0x76, 0x00} // cmp 0x50(%rbp),%rsp; jbe
	b = append(b, 0x48, 0x83, 0xec, 0x28)           // sub $0x28,%rsp
	b = append(b, 0x48, 0x89, 0x5c, 0x24, 0x20)     // mov %rbx,0x20(%rsp)
	b = append(b, 0xe8)
	b = binary.LittleEndian.AppendUint32(b, uint32(other-addr-uint64(len(b))-4))
	end := []byte{0x48, 0x8b, 0x5c, 0x24, 0x20, 0x48, 0x83, 0xc4, 0x28, 0xc3}
	loop := idle(n - len(b) - len(end) + 1)
	return slices.Concat(b, loop[:len(loop)-1], end)
}

// A j9Program is what a process is to run.
type j9Program struct {
	dir    string
	run    []string // arguments of runcode
	loads  []jitdump.Load
	truth  map[string][]testrec.ToyInsn // of bodies without a cold part
	ranges []j9Place
}

// A j9Place is where a function is.
type j9Place struct {
	lo, hi uint64
	name   string
}

// add adds a body with code of its own at an address, and a capture of it.
func (p *j9Program) add(t *testing.T, rng *rand.Rand, n int, addr uint64, cold bool) {
	t.Helper()
	o := j9gen.Options{
		Layout:  j9meta.Layout{Machine: elf.EM_X86_64},
		StartPC: addr, CodeSize: 0x400 + uint32(n)*0x80, Cold: j9gen.Never, Sites: 12, Maps: 60,
		Unloaded: j9gen.Never, Native: j9gen.Never, GapMaps: j9gen.Never,
	}
	if cold {
		o.Cold, o.ColdPC, o.ColdSize = j9gen.Always, addr+0x20000, 0x200
	}
	b := j9gen.Random(rng, o)
	blob, err := j9gen.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	c := &j9meta.Description{Base: j9meta.Address(b.Base), StartPC: j9meta.Address(addr)}
	c.CodeFile = fmt.Sprintf("body%d.code", n)
	name := make(map[uint64]*j9meta.CaptureMethod)
	ascii := strings.NewReplacer("ä", "ae", "ö", "oe", "ß", "ss") // gdb's Python reads no more where nothing says how
	for _, m := range j9gen.Methods(rng, b) {
		m.Class, m.Name = ascii.Replace(m.Class), ascii.Replace(m.Name)
		if len(m.Lines) == 0 {
			m.Lines = [][2]uint32{{0, 7}}
		}
		m.File = fmt.Sprintf("/src/%s%d.java", m.Class, n)
		if uint64(m.Method) == b.Header.RAMMethod {
			m.Name = fmt.Sprintf("outer%d", n)
		}
		c.Methods = append(c.Methods, m)
	}
	for i := range c.Methods {
		name[uint64(c.Methods[i].Method)] = &c.Methods[i]
		p.truth[javaName(&c.Methods[i])] = []testrec.ToyInsn{} // it is one of ours
	}
	put(t, filepath.Join(p.dir, fmt.Sprintf("body%d.bin", n)), blob)
	put(t, filepath.Join(p.dir, c.CodeFile), idle(int(o.CodeSize)))
	p.run = append(p.run, fmt.Sprintf("%#x", addr), c.CodeFile)
	outer := javaName(name[b.Header.RAMMethod])
	p.ranges = append(p.ranges, j9Place{addr, addr + uint64(o.CodeSize), outer})
	if cold {
		c.ColdCodeFile = fmt.Sprintf("body%d.cold", n)
		put(t, filepath.Join(p.dir, c.ColdCodeFile), idle(int(o.ColdSize)))
		p.run = append(p.run, fmt.Sprintf("%#x", o.ColdPC), c.ColdCodeFile)
		p.ranges = append(p.ranges, j9Place{o.ColdPC, o.ColdPC + uint64(o.ColdSize), outer})
	} else {
		p.loads = append(p.loads, jitdump.Load{Name: []byte(outer), CodeAddr: addr, CodeSize: uint64(o.CodeSize)})
		at := uint32(0)
		insn := func(end uint32, frames []j9meta.Frame) {
			i := testrec.ToyInsn{Offset: at, Length: end - at}
			for _, f := range frames {
				m := name[f.Method]
				i.Stack = append(i.Stack, testrec.Frame{Function: javaName(m), File: m.File, Line: lineOf(m, f.ByteCodeIndex)})
			}
			p.truth[outer] = append(p.truth[outer], i)
			at = end
		}
		own := []j9meta.Frame{{Site: -1, Method: b.Header.RAMMethod, ByteCodeIndex: -1}}
		for _, r := range b.Ranges() {
			if r.Start > at {
				insn(r.Start, own)
			}
			insn(r.End, b.Stack(nil, r.Info))
		}
	}
	text := j9gen.Description(c)
	put(t, filepath.Join(p.dir, fmt.Sprintf("body%d.json", n)), text)
}

func javaName(m *j9meta.CaptureMethod) string {
	return strings.ReplaceAll(m.Class, "/", ".") + "." + m.Name + m.Signature
}

func lineOf(m *j9meta.CaptureMethod, index int) uint32 {
	line := m.Lines[0][1]
	for _, l := range m.Lines {
		if int(l[0]) <= index {
			line = l[1]
		}
	}
	return line
}

// What ran is shown by every perf with its name and with the line that the metadata says, and with the
// inlined methods where perf shows any: perf 6 does so only in stacks that it unwinds itself, and the code
// is on another stack than the thread's, as OpenJ9's is. Those who read the objects show the same.
func TestJ9_RecordedByEveryPerf(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		testrec.Skip(t, "the code is for x86-64")
	}
	testrec.CanRecord(t)
	gcc, perf := testrec.Tool(t, "gcc", "cc"), testrec.Tool(t, "perf")
	p := &j9Program{dir: t.TempDir(), truth: make(map[string][]testrec.ToyInsn)}
	rng := rand.New(rand.NewPCG(7, 11))
	for n := range 6 {
		p.add(t, rng, n, 0x200000001020+uint64(n)*0x40000, n >= 4)
	}
	put(t, filepath.Join(p.dir, "body3.code"), calling(int(p.loads[3].CodeSize), p.loads[3].CodeAddr, p.loads[2].CodeAddr))
	testrec.Run(t, p.dir, gcc, "-O1", "-o", "runcode", testrec.Path("runcode.c"))
	record := func(to string, args ...string) {
		args = append([]string{"record", "-q", "-e", "cpu-clock:u", "-F", "999", "-k", "mono", "-o", to}, args...)
		testrec.Run(t, p.dir, perf, append(append(args, "./runcode", "1"), p.run...)...)
	}
	record("frames.data", "-g")
	record("dwarf.data", "--call-graph", "dwarf,256")

	for _, layout := range []struct {
		name, input     string
		bundle, unwinds bool
	}{{"alone", "frames.data", false, false}, {"bundle", "frames.data", true, false}, {"unwound", "dwarf.data", false, true}} {
		opts := config.Options{Input: filepath.Join(p.dir, layout.input), Output: filepath.Join(p.dir, layout.name+".data"), Objects: filepath.Join(p.dir, layout.name),
			SideFiles: []config.SideFile{{Kind: formats.J9, PID: recordedPID(t, p.dir, perf, layout.input), Path: p.dir}}, Bundle: layout.bundle}
		sum, err := engine.Run(t.Context(), opts)
		if err != nil || !sum.Complete() {
			t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
		}
		if d := sum.Dumps[0]; d.Captures != 6 || d.Functions != 8 || d.WithoutCode != 0 || d.WithLines != 8 || d.Inlining < 6 || d.Samples.InJIT < 100 || d.Samples.Resolved != d.Samples.InJIT {
			t.Errorf("got %+v, %+v; want Captures = 6, Functions = 8, Codeless = 0, WithLines = 8, Inlining >= 6, Samples.InJIT >= 100, Samples.Resolved = Samples.InJIT", d, d.Samples)
		}
		spots := spotsOf(t, opts.Objects, "")
		for version, perf := range testrec.Perfs(t) {
			p.checkNames(t, version, perf, opts.Output)
			if layout.bundle {
				continue
			}
			shown := checkPerfInlines(t, p.dir, perf, opts.Output, &toyCode{p.truth, p.loads, spots})
			if major, _, _ := strings.Cut(version, "."); (layout.unwinds || len(major) > 1 || major >= "7") && shown < 100 {
				t.Errorf("perf %s shows %d inlined methods in %s", version, shown, layout.input)
			}
			if layout.unwinds {
				p.checkCaller(t, version, perf, opts.Output)
			}
		}
	}
	p.checkObjects(t)
}

// recordedPID returns the process of a recording's first sample.
func recordedPID(t *testing.T, dir, perf, recording string) uint32 {
	t.Helper()
	pid, err := strconv.ParseUint(strings.Fields(testrec.Run(t, dir, perf, "script", "-F", "pid,ip", "-G", "-i", recording))[0], 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(pid)
}

// checkNames asks perf about every sample.
func (p *j9Program) checkNames(t *testing.T, version, perf, result string) {
	t.Helper()
	seen := make(map[uint64]bool)
	sample := regexp.MustCompile(`^\s*([0-9a-f]+) (.*) \(.*\)$`)
	for line := range strings.Lines(testrec.Run(t, p.dir, perf, "script", "-G", "--no-inline", "-F", "ip,sym,dso", "-i", result)) {
		m := sample.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		ip, _ := strconv.ParseUint(m[1], 16, 64)
		i := slices.IndexFunc(p.ranges, func(r j9Place) bool { return ip >= r.lo && ip < r.hi })
		if i >= 0 && m[2] != p.ranges[i].name {
			t.Fatalf("perf %s: %#x is %s, want %s", version, ip, m[2], p.ranges[i].name)
		}
		if i >= 0 {
			seen[p.ranges[i].lo] = true
		}
	}
	if len(seen) != len(p.ranges) {
		t.Errorf("perf %s shows %d of %d functions", version, len(seen), len(p.ranges))
	}
}

// checkCaller looks for the body that calls another: unwind tables are derived from such code, whatever stack it has.
func (p *j9Program) checkCaller(t *testing.T, version, perf, result string) {
	t.Helper()
	leaf, called := 0, 0
	for _, chain := range perfChains(t, p.dir, perf, result, "--no-inline") {
		if chain[0].frame.Function == p.ranges[2].name {
			if leaf++; len(chain) > 1 && chain[1].frame.Function == p.ranges[3].name {
				called++
			}
		}
	}
	if called < leaf/4 || called > leaf*3/4 { // half of the calls are main's
		t.Errorf("perf %s shows the caller of %d samples of %d", version, called, leaf)
	}
}

// checkObjects asks all symbolizers about every range of every body.
func (p *j9Program) checkObjects(t *testing.T) {
	t.Helper()
	objects, _ := filepath.Glob(filepath.Join(p.dir, "alone", "jitted-*.so"))
	if len(objects) != len(p.ranges) {
		t.Fatalf("%d objects", len(objects))
	}
	for n, l := range p.loads {
		object := objects[slices.IndexFunc(objects, func(o string) bool { return strings.HasSuffix(o, fmt.Sprintf("-%d.so", n)) })]
		var addrs []uint64
		var want [][]testrec.Frame
		for _, i := range p.truth[string(l.Name)] {
			for _, at := range []uint32{i.Offset, i.Offset + i.Length - 1} {
				addrs, want = append(addrs, jitobj.TextOffset+uint64(at)), append(want, i.Stack)
			}
		}
		for _, s := range testrec.Symbolizers(t) {
			for k, got := range s.Stacks(t, object, addrs) {
				for j := range got {
					got[j].Column = 0
				}
				if !slices.Equal(got, want[k]) {
					t.Fatalf("%s, %s, %#x:\n got %v\nwant %v", s.Name, l.Name, addrs[k], got, want[k])
				}
			}
		}
	}
	if f, err := os.ReadFile(objects[0]); err != nil || !bytes.Contains(f, idle(0x400)[:64]) {
		t.Error("the object has not the capture's code")
	}
}
