package engine_test

import (
	"bytes"
	"cmp"
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
	{kind: formats.Jitdump, trust: 6, timed: true, hasLines: true, hasCode: true, put: (*pairWorld).putDump},
	{kind: formats.Mono, trust: 5, timed: true, put: (*pairWorld).putMono},
	{kind: formats.J9, trust: 4, timed: true, hasLines: true, hasInlines: true, put: (*pairWorld).putCaptures},
	{kind: formats.V8Log, trust: 3, timed: true, put: (*pairWorld).putLog},
	{kind: formats.GDBJIT, trust: 2, fixed: true, hasLines: true, hasCode: true, hasInlines: true, put: (*pairWorld).putCore},
	{kind: formats.PerfMap, trust: 1, put: (*pairWorld).putMap},
}

// pairMemory is the memory of lli's code, and pairExtra a place in it without a registered function.
const (
	pairMemory = 0x7f0e7261c000
	pairExtra  = pairMemory + 0xf00
	pairStart  = uint64(monoStart)
	pairTick   = 1_000_000 // nanoseconds: more than the times of V8's log are uncertain
	pairLate   = pairStart + 5000*pairTick
	pairAnchor = pairMemory + 0x10000 // code that tells when V8 began
)

// pairPlaces are the addresses of the registered functions.
var pairPlaces = []uint64{pairMemory, pairMemory + 0x1c0, pairMemory + 0x220}

// A pairWorld is a process with two sources.
type pairWorld struct {
	*world
	order  binary.ByteOrder
	prefix string // of names in V8's log, and in a dump beside it
}

// newPairWorld makes a process with the files and the memory of lli's.
func newPairWorld(t *testing.T) *pairWorld {
	t.Helper()
	p := &pairWorld{world: newWorld(t), order: binary.LittleEndian}
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
	p.Mmap2(lliProcess, pairStart+80*pairTick, pairMemory, 0x1000, 0, "//anon")
	return p
}

// pairFunctions returns the three functions of lli's dump, loaded 100 ticks after the start.
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
			list = append(list, pairFunction{name: string(rec.Name), addr: rec.CodeAddr, time: pairStart + 100*pairTick, code: bytes.Clone(rec.Code), entry: entries})
		default:
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// putDump writes a jitdump, which the process maps.
func (p *pairWorld) putDump(functions []pairFunction) {
	p.Marker(lliProcess, pairStart+50*pairTick, p.path(lliDump))
	var recs []timed
	for i, f := range functions {
		if !f.opaque {
			recs = append(recs, timed{f.time, jitdump.NewDebugInfo(p.order, f.addr, f.entry)})
		}
		recs = append(recs, load(f.time, lliProcess, uint64(i), f.addr, p.prefix+f.name, f.code))
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

// putLog writes a log of V8 with the name of the process.
func (p *pairWorld) putLog(functions []pairFunction) { p.putLogOf(1, functions) }

// putLogOf writes the log of an isolate. A sample in code of new memory tells when it began.
func (p *pairWorld) putLogOf(isolate uint64, functions []pairFunction) {
	const anchored = pairStart + 80*pairTick
	anchor := pairAnchor + isolate*0x1000
	p.Mmap2(lliProcess, anchored, anchor, 0x1000, 0, "//anon")
	p.expect(lliProcess, anchored+1000, anchor+4, "JS:*anchor a.js:1:1+0x4")
	log := fmt.Sprintf("v8-version,11,3,244,8,0\ncode-creation,JS,13,0,%#x,64,anchor a.js:1:1,0x30,*\n", anchor)
	functions = slices.Clone(functions)
	slices.SortStableFunc(functions, func(a, b pairFunction) int { return cmp.Compare(a.time, b.time) })
	for _, f := range functions {
		tag, name, _ := strings.Cut(p.prefix+f.name, ":")
		log += fmt.Sprintf("code-creation,%s,2,%d,%#x,%d,%s\n", tag, (f.time-anchored)/1000, f.addr, len(f.code), name)
	}
	put(p.t, p.path(fmt.Sprintf("isolate-%#x-%d-v8.log", isolate, lliProcess)), []byte(log))
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
			other[i].time += 10 * pairTick // V8's log leaves out what may be there at another function's time
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
	f.name, f.time, f.code = name, pairStart+(after+50)*pairTick, bytes.Repeat([]byte{0x90}, len(f.code)+3) // captures of one size are one
	f.opaque = true
	return f
}

// Where two sources describe a process, the result has what either knows, and nothing of one that a more
// trusted one contradicts. With -short, each pair has a third of the forms.
func TestPairs_OfSources(t *testing.T) {
	all := pairFunctions(t)
	for i := range pairSources {
		for j := range pairSources {
			for k, form := range pairForms {
				a, b := &pairSources[i], &pairSources[j]
				first, second := form.say(a, b, all)
				if i == j || first == nil || testing.Short() && (i+j+k)%3 > 0 {
					continue
				}
				t.Run(strings.Join([]string{a.kind, b.kind, form.name}, "/"), func(t *testing.T) {
					p := newPairWorld(t)
					if a.kind == formats.V8Log || b.kind == formats.V8Log {
						p.prefix = "Builtin:App."
					}
					a.put(p, first)
					b.put(p, second)
					p.judge(a, b, first, second)
				})
			}
		}
	}
}
