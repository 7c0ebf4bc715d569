package source_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/source"
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
func TestJ9ListingsOnce(t *testing.T) {
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

// So are those of a capture, which is not read again for each.
func TestJ9CaptureListingsOnce(t *testing.T) {
	body, tables := j9Many(t, 100, "x", nil)
	body.Header.StartPC, body.Header.EndWarmPC, body.Header.EndPC = 0x100000, 0x108000, 0x108000
	var methods []j9meta.CaptureMethod
	for _, m := range tables {
		methods = append(methods, j9meta.CaptureMethod{Method: m.Method, Class: string(m.Class), Name: string(m.Name), Signature: string(m.Signature)})
	}
	path := writeCapture(t, t.TempDir(), "X", body, methods, nil)
	c, err := source.OpenJ9Capture(path, "x86_64", x86.Order)
	if err != nil {
		t.Fatal(err)
	}
	d := source.NewJ9Captures([]*source.J9Capture{c}, "x86_64")
	for i := range d.Sources() {
		if text, err := d.SourceText(i); err != nil || len(text) != d.Sources()[i].Size {
			t.Fatalf("listing %d: %d bytes, %v", i, len(text), err)
		}
		if i == 0 {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(d.Sources()) < 100 {
		t.Errorf("%d sources", len(d.Sources()))
	}
}
