package stepped

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

var recordings = flag.String("recordings", "", "directories of further recordings with copies of stacks, separated by commas")

// A mapping is executable memory of a recorded process.
type mapping struct {
	lo, hi, off uint64
	name        string
}

// A copied is a sample with a copy of the user stack. regs are by their DWARF numbers, of
// which 16 is the return address: here, the instruction pointer.
type copied struct {
	time  uint64 // in nanoseconds
	regs  map[uint64]uint64
	stack []byte // from the stack pointer on
}

func (s *copied) word(at uint64) (uint64, bool) {
	if off := at - s.regs[rsp]; at >= s.regs[rsp] && off < uint64(len(s.stack)) && uint64(len(s.stack))-off >= 8 {
		return binary.LittleEndian.Uint64(s.stack[off:]), true
	}
	return 0, false
}

// userRegisters is how many registers perf record --call-graph dwarf copies on x86-64, in
// the order of asm/perf_regs.h: ax bx cx dx si di bp sp ip flags cs ss r8 to r15.
const userRegisters = 20

// samplesOf returns the samples and the executable mappings of each process of a recording.
func samplesOf(t *testing.T, path string) (samples map[uint32][]copied, mappings map[uint32][]mapping) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := perfdata.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	layouts, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	if err != nil {
		t.Fatal(err)
	}
	samples, mappings = make(map[uint32][]copied), make(map[uint32][]mapping)
	var sample perfdata.Sample
	for blocks := f.Blocks(); ; {
		block, err := blocks.Next()
		if errors.Is(err, io.EOF) {
			return samples, mappings
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range block.Records() {
			if m, err := layouts.Mmap(rec); err == nil && m.Prot&4 != 0 {
				mappings[m.PID] = append(mappings[m.PID], mapping{m.Addr, m.Addr + m.Len, m.PgOff, string(m.Filename)})
			}
			if rec.Type != perfdata.RecordSample || layouts.DecodeSample(rec, perfdata.FieldRegsUser|perfdata.FieldStackUser, &sample) != nil || len(sample.UserStack.Data) == 0 || len(sample.UserRegs.Values) < userRegisters {
				continue
			}
			r := sample.UserRegs.Values
			samples[sample.PID] = append(samples[sample.PID], copied{time: sample.Time, stack: bytes.Clone(sample.UserStack.Data),
				regs: map[uint64]uint64{3: r[1], rbp: r[6], rsp: r[7], 16: r[8], 12: r[16], 13: r[17], 14: r[18], 15: r[19]}})
		}
	}
}

// copiesAmong returns the parts of files that are mapped twice.
func copiesAmong(mappings []mapping) (copies []source.Copy) {
	for i, a := range mappings {
		for j, b := range mappings {
			lo, hi := max(a.off, b.off), min(a.off+a.hi-a.lo, b.off+b.hi-b.lo)
			if i != j && strings.HasPrefix(a.name, "/") && a.name == b.name && a.lo-a.off != b.lo-b.off && lo < hi {
				copies = append(copies, source.Copy{Lo: a.lo + lo - a.off, Hi: a.lo + hi - a.off, Home: b.lo + lo - b.off})
			}
		}
	}
	return copies
}

// A chain is the state of walking one recorded stack.
type chain struct {
	d        *dump
	v        *verdict
	copies   []source.Copy
	mappings []mapping

	keepsFP bool // functions keep frame pointers, or have no frame
	agreed  int  // rows that agreed with the frame pointer
}

// at returns the function at an address, or the function that it has a copy of.
func (c *chain) at(addr, time uint64) (*function, uint64) {
	f, lo := c.d.at(addr, time)
	for _, m := range c.copies {
		if f == nil && addr >= m.Lo && addr < m.Hi {
			f, lo = c.d.at(addr-m.Lo+m.Home, time)
			lo += m.Lo - m.Home
		}
	}
	return f, lo
}

// walk steps from the innermost frame outwards, through jitted code.
func (c *chain) walk(s *copied) {
	regs := s.regs
	for called := uint64(0); ; called = 1 {
		f, lo := c.at(regs[16]-called, s.time)
		if f == nil {
			return
		}
		off := regs[16] - called - lo
		row, err := f.row(off)
		if row == nil && err == nil {
			c.v.add(f, off, true, "")
			return
		}
		var caller map[uint64]uint64
		why, ended := "", false
		if err != nil {
			why = err.Error()
		} else {
			caller, why, ended = c.step(s, regs, row)
		}
		if ended {
			return
		}
		c.v.add(f, off, false, why)
		if why != "" {
			return
		}
		regs = caller
	}
}

// step returns the registers of the caller. why describes an error of the row; ended means
// that the copy of the stack ends.
func (c *chain) step(s *copied, regs map[uint64]uint64, row *frame.FrameContext) (caller map[uint64]uint64, why string, ended bool) {
	cfa, err := cfaOf(row, regs[rsp], regs[rbp])
	if err != nil {
		return nil, err.Error(), false
	}
	if _, known := regs[row.CFA.Reg]; !known {
		return nil, "", true // the row before marks it as lost
	}
	if cfa < regs[rsp]+8 {
		return nil, fmt.Sprintf("got CFA %#x, by %s, want one above rsp, %#x", cfa, cfaRule(row), regs[rsp]), false
	}
	ra, ok := s.word(cfa - 8)
	if !ok {
		return nil, "", true
	}
	// With its frame pointer set, a function's CFA is rbp+16. Before and after, rbp is the
	// caller's, whose frame lies above.
	if fp := regs[rbp]; c.keepsFP && cfa == fp+16 {
		c.agreed++
	} else if c.keepsFP && fp < cfa {
		return nil, fmt.Sprintf("got CFA %#x, by %s, want rbp+16, %#x, or one up to rbp", cfa, cfaRule(row), fp+16), false
	}
	if !slices.ContainsFunc(c.mappings, func(m mapping) bool { return ra >= m.lo && ra < m.hi }) {
		return nil, fmt.Sprintf("got return address %#x by CFA %s, want one in executable memory", ra, cfaRule(row)), false
	}
	if f, lo := c.at(ra-1, s.time); f != nil {
		if off := ra - lo; off < 2 || off > uint64(len(f.code)) || !endsWithCall(before(f.code[:off])) {
			return nil, fmt.Sprintf("got return address %s+%#x by CFA %s, want one after a call", f.name, off, cfaRule(row)), false
		}
	}
	caller = map[uint64]uint64{rsp: cfa, 16: ra}
	for _, reg := range []uint64{3, rbp, 12, 13, 14, 15} {
		rule, found := row.Regs[reg]
		switch {
		case !found || rule.Rule == frame.RuleSameVal:
			caller[reg] = regs[reg]
		case rule.Rule == frame.RuleOffset:
			if caller[reg], ok = s.word(cfa + uint64(rule.Offset)); !ok {
				return nil, "", true
			}
		}
	}
	return caller, "", false
}

// before returns the last 8 bytes of code, for endsWithCall.
func before(code []byte) uint64 {
	var b [8]byte
	copy(b[max(0, 8-len(code)):], code[max(0, len(code)-8):])
	return binary.LittleEndian.Uint64(b[:])
}

// checkChains walks the stacks of a recording.
func checkChains(t *testing.T, dir string, keepsFP bool, host func(source.Tracer) *jitcode.FrameRow, want atLeast) {
	t.Helper()
	samples, mappings := samplesOf(t, filepath.Join(dir, "perf.data"))
	total := newVerdict()
	agreed, stacks := 0, 0
	paths, err := filepath.Glob(filepath.Join(dir, "jit-*.dump"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("got no dumps in %s, %v", dir, err)
	}
	for _, path := range paths {
		var pid uint32
		if _, err := fmt.Sscanf(filepath.Base(path), "jit-%d.dump", &pid); err != nil {
			t.Fatal(err)
		}
		c := chain{copies: copiesAmong(mappings[pid]), mappings: mappings[pid], v: total, keepsFP: keepsFP}
		c.d = openDump(t, path, c.copies, host)
		for i := range samples[pid] {
			known := total.all()
			if c.walk(&samples[pid][i]); total.all() > known {
				stacks++
			}
		}
		agreed += c.agreed
	}
	t.Logf("%d stacks begin in jitted code; %d rows agree with the frame pointer", stacks, agreed)
	if keepsFP && agreed < want.right/2 {
		t.Errorf("got %d rows that agree with the frame pointer, want at least %d", agreed, want.right/2)
	}
	total.report(t, want)
}

// Rows unwind recorded stacks like the chain of frame pointers, to return addresses that
// follow calls.
func TestUnwindRows_RecordedStacks(t *testing.T) {
	// The frame of execute_ex in the program that was recorded.
	php := jitcode.FrameRow{Known: true, CFA: jitcode.CFA{Reg: rsp, Offset: 160}, Saved: []jitcode.SavedReg{{Reg: 3, Offset: -40}, {Reg: rbp, Offset: -32}, {Reg: 12, Offset: -24}, {Reg: 13, Offset: -16}, {Reg: 16, Offset: -8}}}
	for _, c := range []struct {
		name    string
		keepsFP bool
		host    func(source.Tracer) *jitcode.FrameRow
		want    atLeast
	}{
		{"node-dwarf", true, nil, atLeast{right: 500, functions: 8, sent: 50, percent: 95}},
		{"php-dwarf", false, func(source.Tracer) *jitcode.FrameRow { return &php }, atLeast{right: 25, functions: 3, percent: 95}},
		{"toyjit-dwarf", false, nil, atLeast{right: 200, functions: 6, percent: 95}},
	} {
		t.Run(c.name, func(t *testing.T) { checkChains(t, testrec.Unpack(t, c.name), c.keepsFP, c.host, c.want) })
	}
	for _, dir := range strings.Split(*recordings, ",") {
		if dir != "" {
			t.Run(filepath.Base(dir), func(t *testing.T) {
				programs, _ := filepath.Glob(filepath.Join(dir, "php?.?"))
				host := func(tracer source.Tracer) *jitcode.FrameRow { return hostOf(t, programs[0], tracer) }
				if len(programs) == 0 {
					host = nil
				}
				checkChains(t, dir, strings.HasPrefix(filepath.Base(dir), "node"), host, atLeast{right: 1, functions: 1})
			})
		}
	}
}
