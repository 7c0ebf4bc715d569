package engine_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Each ordered pair of sources describes the code of one process. The process is that of the real core of
// lli, which has three registered functions; the other sources are made for the same code. A source is
// added to the table by a row in pairSources.

// A pairFunction is what a source says of a function.
type pairFunction struct {
	name   string
	addr   uint64
	time   uint64 // for sources without times: 0 if it is gone
	code   []byte
	entry  []jitdump.DebugEntry
	opaque bool // the source leaves out lines
}

// A pairSource is a row of the table: a source of names, and what else it has.
type pairSource struct {
	kind                          string
	trust                         int // of equal logs, the first in the list of formats counts
	timed                         bool
	fixed                         bool // it always describes the three functions, by their names
	hasLines, hasCode, hasInlines bool
	put                           func(p *pairWorld, functions []pairFunction)
}

var pairSources = []pairSource{
	{kind: formats.Jitdump, trust: 5, timed: true, hasLines: true, hasCode: true, put: (*pairWorld).putDump},
	{kind: formats.Mono, trust: 4, timed: true, put: (*pairWorld).putMono},
	{kind: formats.J9, trust: 3, timed: true, hasLines: true, hasInlines: true, put: (*pairWorld).putCaptures},
	{kind: formats.GDBJIT, trust: 2, fixed: true, hasLines: true, hasCode: true, hasInlines: true, put: (*pairWorld).putCore},
	{kind: formats.PerfMap, trust: 1, put: (*pairWorld).putMap},
}

// pairMemory is the memory of lli's code, and pairExtra a place in it without a registered function.
const (
	pairMemory = 0x7f0e7261c000
	pairExtra  = pairMemory + 0xf00
	pairStart  = uint64(monoStart)
	pairLate   = pairStart + 5000
)

// pairPlaces are the addresses of the registered functions.
var pairPlaces = []uint64{pairMemory, pairMemory + 0x1c0, pairMemory + 0x220}

// A pairWorld is a process with two sources.
type pairWorld struct {
	*world
	order binary.ByteOrder
}

// newPairWorld makes a process with the files and the memory of lli's.
func newPairWorld(t *testing.T) *pairWorld {
	t.Helper()
	p := &pairWorld{newWorld(t), binary.LittleEndian}
	p.Machine, p.SampleType = "x86_64", p.SampleType|testrec.StackUser
	core, err := elfcore.Open(bytes.NewReader(testrec.Gunzip(t, lliData+"lli.core.gz")))
	if err != nil {
		t.Fatal(err)
	}
	p.Comm(lliProcess, pairStart, "lli", true)
	for i, f := range core.Files() {
		if strings.HasSuffix(f.Name, lliDump) {
			continue // putDump maps it
		}
		p.Mmap2(lliProcess, pairStart+1+uint64(i), f.Start, f.End-f.Start, f.Offset, f.Name)
	}
	p.Mmap2(lliProcess, pairStart+90, pairMemory, 0x1000, 0, "//anon")
	return p
}

// pairFunctions returns the three functions of lli's dump, loaded from 100 ns after the start on.
func pairFunctions(t *testing.T) (list []pairFunction) {
	t.Helper()
	r, err := jitdump.NewReader(bytes.NewReader(read(t, lliData+lliDump)))
	if err != nil {
		t.Fatal(err)
	}
	var entries []jitdump.DebugEntry
	for {
		raw, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		switch rec, err := raw.Decode(); rec := rec.(type) {
		case *jitdump.DebugInfo:
			entries = nil
			for e, err := range rec.Entries() {
				if err != nil {
					t.Fatal(err)
				}
				e.Name = bytes.Clone(e.Name)
				entries = append(entries, e)
			}
		case *jitdump.Load:
			list = append(list, pairFunction{name: string(rec.Name), addr: rec.CodeAddr, time: pairStart + 100, code: bytes.Clone(rec.Code), entry: entries})
		default:
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// putDump writes a jitdump, which the process maps.
func (p *pairWorld) putDump(functions []pairFunction) {
	p.Marker(lliProcess, pairStart+50, p.path(lliDump))
	var recs []timed
	for i, f := range functions {
		if !f.opaque {
			recs = append(recs, timed{f.time, jitdump.NewDebugInfo(p.order, f.addr, f.entry)})
		}
		recs = append(recs, load(f.time, lliProcess, uint64(i), f.addr, f.name, f.code))
	}
	p.dump(lliDump, x86(lliProcess), recs...)
}

// putMono writes a log of Mono's profiler.
func (p *pairWorld) putMono(functions []pairFunction) {
	var methods []jitted
	for i, f := range functions {
		methods = append(methods, jitted{f.time, uint64(i) + 1, f.addr, uint64(len(f.code)), f.name})
	}
	put(p.t, p.path("app.mlpd"), monoLog(p.t, 17, lliProcess, pairStart, methods...))
	p.opts.SideFiles = append(p.opts.SideFiles, config.SideFile{Kind: formats.Mono, PID: lliProcess, Path: p.path("app.mlpd")})
}

// putCaptures writes captures of OpenJ9's metadata. They have inlined calls, and lines unless they are opaque.
func (p *pairWorld) putCaptures(functions []pairFunction) {
	if err := os.Mkdir(p.path("caps"), 0o755); err != nil {
		p.t.Fatal(err)
	}
	for i, f := range functions {
		lines := `, "file": "App.java", "lines": [[0, 10], [40, 11], [100, 12], [200, 13]]`
		if f.opaque {
			lines = ""
		}
		methods := fmt.Sprintf(`"methods": [{"method": "0x500000", "class": "App", "name": %q, "signature": "(I)V"%s}, {"method": "0x500020", "class": "L", "name": "get", "signature": "(I)V"%[2]s}]`, f.name, lines)
		p.capture(fmt.Sprintf("caps/%d", i), vector(p.t, f.addr, uint64(len(f.code)), 0, 0), methods, fmt.Sprintf(`"pid": %d, "time": %d`, lliProcess, f.time))
	}
	p.opts.SideFiles = append(p.opts.SideFiles, config.SideFile{Kind: formats.J9, Path: p.path("caps")})
}

// putCore adds the core, which has the registered objects.
func (p *pairWorld) putCore([]pairFunction) {
	put(p.t, p.path("lli.core"), testrec.Gunzip(p.t, lliData+"lli.core.gz"))
	p.opts.CodeFrom = append(p.opts.CodeFrom, p.path("lli.core"))
}

// putMap writes a perf map beside the recording.
func (p *pairWorld) putMap(functions []pairFunction) {
	var lines []string
	for _, f := range functions {
		lines = append(lines, fmt.Sprintf("%x %x %s", f.addr, len(f.code), f.name))
	}
	p.mapFile(fmt.Sprintf("perf-%d.map", lliProcess), lines...)
}

// A pairForm says what two sources say: nil, nil if there is no such case of them.
type pairForm struct {
	name string
	say  func(a, b *pairSource, all []pairFunction) (first, second []pairFunction)
}

var pairForms = []pairForm{
	{"agree", func(_, _ *pairSource, all []pairFunction) (first, second []pairFunction) { return all, all }},
	{"the second has more", func(a, b *pairSource, all []pairFunction) (first, second []pairFunction) {
		extra := all[1]
		extra.name, extra.addr, extra.entry = "extra", pairExtra, slices.Clone(extra.entry)
		for i := range extra.entry {
			extra.entry[i].Addr += pairExtra - all[1].addr
		}
		return all[:2], append(slices.Clone(all), extra)
	}},
	{"the second fills the first", func(a, b *pairSource, all []pairFunction) (first, second []pairFunction) {
		return []pairFunction{all[0], all[2]}, all[1:2]
	}},
	{"the first has gaps", func(a, b *pairSource, all []pairFunction) (first, second []pairFunction) {
		first = slices.Clone(all)
		for i := range first {
			first[i].opaque = true
		}
		return first, all
	}},
	{"the second has gaps", func(a, b *pairSource, all []pairFunction) (first, second []pairFunction) {
		second = slices.Clone(all)
		for i := range second {
			second[i].opaque = true
		}
		return all, second
	}},
	{"contradict", func(a, b *pairSource, all []pairFunction) (first, second []pairFunction) {
		other := slices.Clone(all)
		for i := range other {
			other[i].name = fmt.Sprintf("another_%d", i)
		}
		if b.fixed {
			return other, all
		}
		return all, other
	}},
	{"used again: the second has the older", func(a, b *pairSource, all []pairFunction) (first, second []pairFunction) {
		if !b.timed || !a.timed {
			return nil, nil
		}
		return all, append(slices.Clone(all), again(all[0], "older", 40))
	}},
	{"used again: the second has the newer", func(a, b *pairSource, all []pairFunction) (first, second []pairFunction) {
		if !b.timed || !a.timed {
			return nil, nil
		}
		return all, append(slices.Clone(all), again(all[0], "newer", 300))
	}},
	{"used again: the first has the older, too", func(a, b *pairSource, all []pairFunction) (first, second []pairFunction) {
		if !a.timed {
			return nil, nil
		}
		return append(slices.Clone(all), again(all[0], "older", 40)), all
	}},
}

// again returns another function at the place of one, at a time after the start.
func again(f pairFunction, name string, after uint64) pairFunction {
	f.name, f.time, f.code = name, pairStart+after+50, bytes.Repeat([]byte{0x90}, len(f.code)+3) // captures of one size are one
	f.opaque = true
	return f
}

// Where two sources describe a process, the result has what either knows, and nothing of one that a more
// trusted one contradicts.
func TestPairs_OfSources(t *testing.T) {
	all := pairFunctions(t)
	for i := range pairSources {
		for j := range pairSources {
			for _, form := range pairForms {
				a, b := &pairSources[i], &pairSources[j]
				first, second := form.say(a, b, all)
				if i == j || first == nil {
					continue
				}
				t.Run(strings.Join([]string{a.kind, b.kind, form.name}, "/"), func(t *testing.T) {
					p := newPairWorld(t)
					a.put(p, first)
					b.put(p, second)
					p.judge(a, b, first, second)
				})
			}
		}
	}
}
