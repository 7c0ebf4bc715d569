package show

import (
	"context"

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
			l.fill(fn, d.texts)
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
