package show

import (
	"context"

	"github.com/jitinject/jitinject/internal/jitcode"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/jitdump"
)

// A dumpListing shows the code of a jitdump's functions with their lines. Which lines
// are a function's, and what producers get wrong about them, package source knows; it
// scans the whole dump first.
type dumpListing struct {
	*viewer
	dump   *jitdumps.Dump
	reader *jitdumps.Reader
	said   bool
	openJ9 map[uint64]*j9Body // of code that is not loaded yet, by its address
}

// maxJ9Waiting bounds how many bodies are remembered. Metadata stands in front of the load
// that it describes.
const maxJ9Waiting = 1 << 10

// metadata remembers what OpenJ9 says of the code that is loaded at an address next.
func (d *dumpListing) metadata(addr uint64, b *j9Body) {
	if d.openJ9 == nil || len(d.openJ9) >= maxJ9Waiting {
		d.openJ9 = make(map[uint64]*j9Body)
	}
	d.openJ9[addr] = b
}

func newDumpListing(v *viewer) (*dumpListing, error) {
	d, err := jitdumps.OpenFile(v.file)
	if err != nil {
		return nil, err
	}
	if err := d.Scan(context.Background()); err != nil {
		return nil, err
	}
	return &dumpListing{viewer: v, dump: d, reader: d.Reader()}, nil
}

// show shows the code of a function. Where source cannot make sense of the record, the
// code is shown as it is.
func (d *dumpListing) show(raw *jitdump.Raw, load *jitdump.Load) {
	t := d.dump.Target()
	l := listing{machine: t.Machine, order: t.Order, addr: load.CodeAddr, code: load.Code, text: func(string, uint64) ([]byte, bool) { return nil, false }}
	if i, ok := d.dump.FunctionAt(raw.Offset); ok {
		if fn, err := d.reader.Function(i); err == nil {
			d.fill(&l, fn)
		}
		d.reader.Problems = d.reader.Problems[:0]
	}
	if b := d.openJ9[load.CodeAddr]; b != nil {
		delete(d.openJ9, load.CodeAddr)
		l.marks = b.exceptionMarks(load.CodeAddr, l.addr, uint64(len(l.code)))
	}
	if why := noDisassembler(t.Machine, t.Order, l.thumb); why != "" && !d.said {
		d.said = true
		d.out.word("not_disassembled", why)
	}
	l.show(d.out, t.Order)
}

// fill adds what is known of a function.
func (v *viewer) fill(l *listing, fn *jitcode.Function) {
	l.addr, l.code, l.thumb = fn.Addr, fn.Code, fn.Thumb
	for _, line := range fn.Lines {
		l.lines = append(l.lines, listedLine{line.Offset, fn.Files[line.File], uint64(line.Line), uint64(line.Column)})
	}
	depth := make([]int, len(fn.Inlines))
	for i, call := range fn.Inlines {
		callee := &fn.Origins[call.Origin]
		c := inlinedCall{id: i, function: string(callee.Name), line: uint64(call.Line), column: uint64(call.Column)}
		caller := 0
		if call.Parent >= 0 {
			caller, depth[i] = fn.Inlines[call.Parent].Origin, depth[call.Parent]+1
		}
		if file := fn.Origins[caller].File; file >= 0 {
			c.file = fn.Files[file]
		}
		c.depth = depth[i]
		for _, r := range fn.Ranges[call.First:call.Last] {
			c.first, c.end = r.Offset, r.Offset+r.Size
			l.calls = append(l.calls, c)
		}
	}
	brought := make(map[string]*sourceText)
	for i, text := range fn.Sources {
		if text != "" {
			brought[fn.Files[i]] = v.texts.brought(fn.Files[i], text)
		}
	}
	l.text = func(file string, line uint64) ([]byte, bool) {
		if s := brought[file]; s != nil {
			return s.line(line)
		}
		return v.texts.of(file).line(line)
	}
}
