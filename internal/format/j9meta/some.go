package j9meta

// DecodeSome is Decode for those who show what there is: with an error, it returns what could be
// read in front of it. Sections are then those up to the one with the error, of which some fields
// are missing; where the header itself cannot be read there are none. The Body is never nil.
func DecodeSome(blob []byte, base uint64, l Layout) (*Body, error) {
	d := decoder{blob: blob, base: base, layout: l, body: &Body{Base: base}}
	err := l.check()
	if err == nil {
		err = d.decode()
	}
	d.body.Layout = d.layout
	return d.body, err
}
