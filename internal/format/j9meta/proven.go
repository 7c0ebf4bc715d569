package j9meta

import "cmp"

// Proven returns the layout with the size of struct J9JITExceptionTable that the metadata proves, where
// another one was stated: that up to the first section behind the exception table. A stated size stays
// where there is no section to prove another, and where the metadata cannot be decoded with that.
func Proven(blob []byte, base uint64, l Layout) Layout {
	inferred := l
	inferred.HeaderSize = 0
	if l.HeaderSize == 0 || l.check() != nil {
		return l
	}
	d := decoder{blob: blob, base: base, layout: inferred, body: &Body{Base: base}}
	c := d.cursor(ExceptionTable, 0, min(len(blob), l.minHeaderSize()))
	h := d.header(&c)
	if c.Err() != nil || h.Flags&IsStub != 0 || cmp.Or(h.InlinedCalls, h.GCStackAtlas, h.OSRInfo, h.GPUCode, h.RIData) == 0 {
		return l
	}
	d.blob, d.body.Header = blob[:h.Size], h
	if d.headerSize(false) != nil || d.layout.HeaderSize == l.HeaderSize {
		return l
	}
	if _, err := Decode(blob, base, inferred); err != nil {
		return l
	}
	return d.layout
}
