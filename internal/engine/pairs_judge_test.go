package engine_test

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
)

// A claim is a function at a time, as a source has it.
type claim struct {
	*pairSource
	pairFunction
	until uint64
}

// claims returns what a source says.
func (s *pairSource) claims(t *testing.T, functions []pairFunction) (list []claim) {
	if s.fixed {
		functions = pairFunctions(t)
	}
	for _, f := range functions {
		c := claim{s, f, pairLate}
		for _, other := range functions {
			if other.addr == f.addr && other.time > f.time {
				c.until = min(c.until, other.time)
			}
		}
		list = append(list, c)
	}
	return list
}

// active returns the claims about an address at a time, the most trusted first. Without times, a function is
// there from the start, or from when a source with times has one there.
func active(claims []claim, addr, time uint64) (list []claim) {
	since := uint64(pairStart)
	for _, c := range claims {
		if c.timed && c.addr == addr {
			since = max(since, pairStart+100*pairTick)
		}
	}
	for _, c := range claims {
		if c.addr == addr && (c.timed && c.time <= time && time < c.until || !c.timed && since <= time) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(x, y claim) int { return cmp.Compare(y.trust, x.trust) })
	return list
}

// wanted returns what the result has to have of the function of some active claims. contradicts says that one
// of them names another function. all are the claims of all times.
func wanted(prefix string, all, active []claim) (want described, contradicts bool) {
	if len(active) == 0 {
		return want, false
	}
	best := active[0]
	for _, c := range active[1:] {
		// A source with times that has both functions knows which of them came later.
		if c.name != best.name && c.timed && c.time > best.time && hasBoth(all, c.kind, c.name, best.name) {
			best = c
		}
	}
	want.name = best.shown(prefix)
	for _, c := range active {
		switch {
		case c.name == best.name:
			want.lines = want.lines || c.hasLines && (!c.opaque || c.kind == formats.J9) // bytecodes without lines have listings
			want.code = want.code || c.hasCode
			want.inlines = want.inlines || c.hasInlines && (c.kind == formats.J9 || c.name != "main")
		case !hasBoth(all, c.kind, c.name, best.name) && !hasBoth(all, best.kind, c.name, best.name):
			contradicts = true
		}
	}
	return want, contradicts
}

// hasBoth reports whether a source describes functions of two names.
func hasBoth(all []claim, kind, a, b string) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(all, func(c claim) bool { return c.kind == kind && c.name == name })
	}
	return has(a) && has(b)
}

// judge injects, and compares the result with what the sources say: at each address and time, the name is
// of the most trusted, and lines, code and tables are of any that has that function.
func (p *pairWorld) judge(a, b *pairSource, first, second []pairFunction) {
	p.t.Helper()
	addresses := append(slices.Clone(pairPlaces), pairExtra)
	times := []uint64{pairStart + 99*pairTick, pairStart + 200*pairTick, pairStart + 1000*pairTick}
	claims := append(a.claims(p.t, first), b.claims(p.t, second)...)
	contradicted := false
	for _, time := range times {
		for _, addr := range addresses {
			want, contradicts := wanted(p.prefix, claims, active(claims, addr, time))
			if want.name != "" {
				want.name += "+0x4"
			}
			p.expect(lliProcess, time, addr+4, want.name)
			contradicted = contradicted || contradicts
		}
	}
	for _, layout := range layouts {
		p.opts.Bundle, p.opts.Sampled = layout.bundle, layout.sampled
		if _, err := p.run(); err != nil {
			p.t.Fatal(err)
		}
		p.resolveByModel(p.opts.Output)
		checkModules(p.t, p.opts.Output)
	}
	p.opts.Bundle, p.opts.Sampled = false, false
	sum, err := p.run()
	if err != nil {
		p.t.Fatal(err)
	}
	if !testing.Short() && (contradicted || len(first) > len(pairPlaces)) { // some of all, as each perf takes time
		p.resolveByPerf(p.opts.Output)
	}
	m := readMappings(p.t, p.opts.Output)
	contradictions, sent := 0, 0
	for _, addr := range addresses {
		for _, time := range times {
			active := active(claims, addr, time)
			want, contradicts := wanted(p.prefix, claims, active)
			got := p.at(m, time, addr+4)
			has := func(kind string) bool {
				return slices.ContainsFunc(active, func(c claim) bool { return c.kind == kind })
			}
			if has(formats.J9) {
				want.inlines = got.inlines // as its metadata has them there
			}
			if len(p.opts.CodeFrom) > 0 && want.name != "" {
				want.code = got.code // the memory has the last
				if time == pairStart+1000*pairTick && (!contradicts || active[0].kind == formats.GDBJIT) && addr != pairExtra && !strings.Contains(want.name, "newer") {
					want.code, want.tables = true, true
					sent++
				}
			}
			want.tables = want.code
			if got != want {
				p.t.Errorf("at %#x, %d ticks after the start: got %+v; want %+v", addr, (time-pairStart)/pairTick, got, want)
			}
			if contradicts && time == pairStart+1000*pairTick {
				contradictions++
			}
		}
	}
	reported := 0
	for _, problem := range sum.Problems {
		if problem.Code == report.ProblemContradiction {
			fmt.Sscanf(problem.Text, "%d", &reported)
			continue
		}
		p.t.Errorf("got problem %v; want none but contradictions", problem)
	}
	if reported != contradictions {
		p.t.Errorf("got %d contradictions reported; want %d: %v", reported, contradictions, sum.Problems)
	}
	var tables int64
	for _, d := range sum.Dumps {
		tables += int64(d.Unwind.Sent)
	}
	if tables != int64(sent) {
		p.t.Errorf("got %d functions with registered tables; want %d", tables, sent)
	}
}

// shown returns the name of a function as its source shows it. prefix is that of V8's names.
func (c *claim) shown(prefix string) string {
	switch c.kind {
	case formats.J9:
		return "App." + c.name + "(I)V"
	case formats.V8Log, formats.Jitdump:
		return prefix + c.name
	}
	return c.name
}

// A described is what the result has of a function.
type described struct {
	name                         string
	code, lines, inlines, tables bool
}

// at returns what the result has at an address at a time.
func (p *pairWorld) at(m *mappings, time, addr uint64) (d described) {
	p.t.Helper()
	name, _, _ := strings.Cut(m.symbol(p.t, want{lliProcess, time, addr, ""}), "+0x")
	if d.name = name; name == "" {
		return d
	}
	for i := len(m.all) - 1; i >= 0; i-- {
		mm := &m.all[i]
		if mm.time > time || addr-mm.Addr >= mm.Len || !m.has(lliProcess, time, mm) {
			continue
		}
		f, err := elf.Open(string(mm.Filename))
		if err != nil {
			p.t.Fatal(err)
		}
		defer f.Close()
		p.describe(&d, f, addr-mm.Addr+mm.PgOff)
		return d
	}
	return d
}

// describe adds what an object has at one of its addresses.
func (p *pairWorld) describe(d *described, f *elf.File, at uint64) {
	d.code = f.Section(".text").Type == elf.SHT_PROGBITS
	if s := f.Section(".eh_frame"); s != nil && d.code {
		b, err := s.Data()
		if err != nil {
			p.t.Fatal(err)
		}
		r := callframe.NewReader(callframe.Place{Order: f.ByteOrder, AddrSize: 8, Machine: f.Machine, Addr: s.Addr}, b)
		for e, ok := r.Next(); ok; e, ok = r.Next() {
			if e.Kind == callframe.KindFDE && at-e.Low < e.Size {
				d.tables = true
			}
		}
	}
	info, err := f.DWARF()
	if err != nil {
		return
	}
	for r := info.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			return
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			lines, err := info.LineReader(e)
			var row, next dwarf.LineEntry
			for err == nil && lines != nil {
				if err = lines.Next(&next); err == nil {
					d.lines = d.lines || row.Line > 0 && !row.EndSequence && row.Address < next.Address && inSymbol(p.t, f, at, row.Address)
					row = next
				}
			}
		case dwarf.TagInlinedSubroutine:
			ranges, err := info.Ranges(e)
			d.inlines = d.inlines || err == nil && len(ranges) > 0 && inSymbol(p.t, f, at, ranges[0][0])
		}
	}
}

// inSymbol reports whether two addresses are in one function.
func inSymbol(t *testing.T, f *elf.File, a, b uint64) bool {
	t.Helper()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return a-s.Value < s.Size && b-s.Value < s.Size })
}
