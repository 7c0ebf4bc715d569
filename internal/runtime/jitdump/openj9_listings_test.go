package jitdump_test

import (
	"bytes"
	"io"
	"testing"
)

// A countingReader counts what is read.
type countingReader struct {
	io.ReaderAt
	bytes int
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.bytes += n
	return n, err
}

// Listings of a function are made together, not all of them for each.
func TestJ9Listing_MadeTogether(t *testing.T) {
	b := newDump(t, x86)
	const methods = 1000
	for i := range 3 {
		body, tables := j9Many(t, methods, "x", nil)
		h := &body.Header
		h.StartPC += uint64(i) << 20
		h.EndWarmPC, h.EndPC = h.StartPC+0x8000, h.StartPC+0x8000
		b.add(j9Record(t, body, tables, h.StartPC))
		b.load("outer", h.StartPC, 0x8000)
	}
	src := &countingReader{ReaderAt: bytes.NewReader(b.out.Bytes())}
	d := scan(t, src)
	src.bytes = 0
	all := d.Sources()
	if len(all) != 3*(1+methods) {
		t.Fatalf("%d sources", len(all))
	}
	for i := range all {
		text, err := d.SourceText(i)
		if err != nil || len(text) != all[i].Size {
			t.Fatalf("%s: %d bytes, not %d; %v", all[i].Name, len(text), all[i].Size, err)
		}
	}
	if limit := 2 * b.out.Len(); src.bytes > limit {
		t.Errorf("%d bytes were read of a dump of %d", src.bytes, b.out.Len())
	}
	for _, i := range []int{0, len(all) - 1, 1} { // in any order
		if text, err := d.SourceText(i); err != nil || len(text) != all[i].Size {
			t.Errorf("%s: %d bytes, not %d; %v", all[i].Name, len(text), all[i].Size, err)
		}
	}
}
