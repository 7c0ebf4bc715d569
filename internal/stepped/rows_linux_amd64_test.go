package stepped

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/source"
)

// A verdict is what was found out about the rows of a dump.
type verdict struct {
	right, none, wrong int
	elsewhere          int               // in no function of the dump
	functions          map[string]*tally // of those that were executed
}

type tally struct {
	right, none, wrong int
	first              string // that was wrong
}

func (v *verdict) String() string {
	return fmt.Sprintf("%d instructions in %d functions: %d rows right, %d without, %d wrong; %d elsewhere", v.right+v.none+v.wrong, len(v.functions), v.right, v.none, v.wrong, v.elsewhere)
}

// A code is a function of a dump with what its object says of its frames.
type code struct {
	lo, hi uint64
	time   uint64
	number int
	name   string
	fdes   frame.FrameDescriptionEntries
}

// judge holds what objects of the functions in a dump say of frames against steps.
func judge(t testing.TB, path string, host func(source.Tracer) *jitcode.FrameRow, w *watched) *verdict {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := source.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Scan(context.Background()); err != nil {
		t.Fatal(err)
	}
	var around source.Surroundings
	if tr, ok := d.(source.Tracer); ok && tr.HasTraces() && host != nil {
		around.Host = host(tr)
	}
	for _, r := range w.copies {
		around.Copies = append(around.Copies, source.Copy{Lo: r.lo, Hi: r.hi, Home: r.home}, source.Copy{Lo: r.home, Hi: r.home + r.hi - r.lo, Home: r.lo})
	}
	d.DeriveFrames(around)
	builder, err := jitobj.NewBuilder(d.Target(), jitobj.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := d.Functions()
	var codes []code
	for _, e := range d.Scanned().Events {
		if e.Kind == jitcode.Load && e.Size > 0 {
			codes = append(codes, code{lo: e.Addr, hi: e.Addr + e.Size, time: e.Time, number: e.Function})
		}
	}
	slices.SortStableFunc(codes, func(a, b code) int { return cmp.Compare(a.lo, b.lo) })
	v := &verdict{functions: make(map[string]*tally)}
	known := make(map[int]*code)
	for i := range w.steps {
		s := &w.steps[i]
		addr := s.regs.Rip
		c := find(codes, addr, s.time)
		if c == nil && s.home != 0 {
			addr = s.home
			c = find(codes, addr, s.time)
		}
		if c == nil {
			v.elsewhere++
			continue
		}
		k := known[c.number]
		if k == nil {
			fn, err := r.Function(c.number)
			if err != nil {
				t.Fatal(err)
			}
			obj, err := builder.Build(fn, jitobj.Place{})
			if err != nil {
				t.Fatal(err)
			}
			k = &code{lo: c.lo, name: string(fn.Name), fdes: fdesOf(t, obj.Bytes)}
			known[c.number] = k
		}
		v.add(k, s, addr-c.lo)
	}
	return v
}

// fdesOf reads the unwind tables of an object.
func fdesOf(t testing.TB, object []byte) frame.FrameDescriptionEntries {
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(".eh_frame")
	if s == nil {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	fdes, err := frame.Parse(data, f.ByteOrder, 0, 8, s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	return fdes
}

// find returns the function at an address that was there last before a time.
func find(codes []code, addr, time uint64) (found *code) {
	n, _ := slices.BinarySearchFunc(codes, addr+1, func(c code, a uint64) int { return cmp.Compare(c.lo, a) })
	for i := n - 1; i >= 0 && i > n-64; i-- {
		if c := &codes[i]; addr < c.hi && c.time <= time && (found == nil || c.time > found.time) {
			found = c
		}
	}
	return found
}

// add judges one step, at an offset in a function.
func (v *verdict) add(c *code, s *step, off uint64) {
	f := v.functions[c.name]
	if f == nil {
		f = new(tally)
		v.functions[c.name] = f
	}
	pc := jitobj.TextOffset + off
	i := slices.IndexFunc(c.fdes, func(f *frame.FrameDescriptionEntry) bool { return f.Cover(pc) })
	if i < 0 {
		v.none++
		f.none++
		return
	}
	row, err := c.fdes[i].EstablishFrame(pc)
	why := ""
	if err != nil {
		why = err.Error()
	} else {
		why = s.contradicts(row)
	}
	if why != "" {
		v.wrong++
		if f.wrong++; f.first == "" {
			f.first = fmt.Sprintf("%s+%#x at %#x: %s", c.name, off, s.regs.Rip, why)
		}
		return
	}
	v.right++
	f.right++
}

// contradicts says what is wrong with a row, if anything is.
func (s *step) contradicts(row *frame.FrameContext) string {
	now := savedOf(&s.regs)
	base := uint64(0)
	switch row.CFA.Reg {
	case 7:
		base = s.regs.Rsp
	case 6:
		base = s.regs.Rbp
	default:
		return fmt.Sprintf("CFA counts from register %d", row.CFA.Reg)
	}
	want := s.frame.slot + 8
	if got := base + uint64(row.CFA.Offset); row.CFA.Rule != frame.RuleCFA || got != want {
		return fmt.Sprintf("CFA %#x by register %d%+d, want %#x", got, row.CFA.Reg, row.CFA.Offset, want)
	}
	for i, reg := range saved {
		got, known := now[i], true
		if rule, ok := row.Regs[uint64(reg)]; ok {
			switch n := -rule.Offset/8 - 1; {
			case rule.Rule == frame.RuleSameVal:
			case rule.Rule == frame.RuleOffset && n >= 0 && n < window && rule.Offset%8 == 0:
				got = s.below[n]
			default:
				known = false
			}
		}
		// JIT compilers have conventions of their own for all but the frame pointer.
		if reg == 6 && known && got != s.frame.regs[i] {
			return fmt.Sprintf("register %d of the caller is %#x, want %#x", reg, got, s.frame.regs[i])
		}
	}
	return ""
}
