package openj9

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/jitcode"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/runtime/openj9/metadata"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/wire"
	"github.com/jitinject/jitinject/jitdump"
)

// Conversion of a capture to functions: name of the method, lines, inlined calls, and listings in
// place of source files. The result is the same as for a record in a jitdump.

// A bodyReader reads the functions of captured bodies.
type bodyReader struct {
	tree     *jitdumps.TreeReader
	fn       *jitcode.Function
	listings []source.MadeText // of fn
	problems []source.Problem
}

func newBodyReader() *bodyReader { return &bodyReader{tree: jitdumps.NewTreeReader()} }

func (r *bodyReader) problem(off int64, format string, args ...any) {
	r.problems = append(r.problems, source.Problem{Offset: off, Text: fmt.Sprintf(format, args...)})
}

// read sets r.fn to a part of a capture, without its code.
func (r *bodyReader) read(raw *j9meta.Capture, p *part) {
	r.fn, r.listings = r.tree.Begin(p.addr, p.size), nil
	code := metadata.Code{Methods: JavaMethods(raw), Addr: p.addr, Size: p.size}
	r.fn.Name = j9Name(code.Methods, raw.RAMMethod())
	var err error
	if code.Body, err = raw.Body(); err != nil {
		r.problem(offsetOf(err), "%v; its code is left without lines and inlined calls", err)
		return
	}
	lines, err := code.Lines()
	r.tree.Read(lines.Info, err, offsetOf(err))
	r.problems = append(r.problems, r.tree.TakeProblems()...)
	r.listings = lines.Listings
}

// offsetOf returns the offset of an error in a capture, or -1.
func offsetOf(err error) int64 {
	var at *wire.Error
	if errors.As(err, &at) {
		return at.Offset
	}
	return -1
}

// j9Name returns the name of the method at an address.
func j9Name(methods []jitdump.JavaMethod, address uint64) []byte {
	if i := slices.IndexFunc(methods, func(m jitdump.JavaMethod) bool { return m.Method == address }); i >= 0 {
		return []byte(metadata.JavaName(&methods[i]))
	}
	return fmt.Appendf(nil, "[method %#x]", address)
}

// JavaMethods returns the methods of a capture in the form of a record.
func JavaMethods(raw *j9meta.Capture) []jitdump.JavaMethod {
	methods := make([]jitdump.JavaMethod, len(raw.Methods))
	for i := range raw.Methods {
		m := &raw.Methods[i]
		j := jitdump.JavaMethod{Method: uint64(m.Method), Class: []byte(m.Class), Name: []byte(m.Name), Signature: []byte(m.Signature), File: []byte(m.File)}
		if m.User {
			j.Flags = jitdump.UserFunction
		}
		for _, l := range m.Lines {
			j.Lines = append(j.Lines, jitdump.JavaLine{ByteCodeIndex: l[0], Line: l[1]})
		}
		methods[i] = j
	}
	return methods
}

// Listings replace the source files of methods without lines. They are made again when the first
// listing of a function is read.

var _ source.Texter = (*Captures)(nil)

// Sources returns the listings of all captures.
func (d *Captures) Sources() []source.Source { return d.sources.All }

// Text returns the text of the i-th listing.
func (d *Captures) Text(i int) (source.Text, error) {
	text, err := d.SourceText(i)
	return source.TextOf(text), err
}

// SourceText returns the text of the i-th listing.
func (d *Captures) SourceText(i int) ([]byte, error) {
	return d.listings.Text(d.sources.All, i, func(function int) ([]source.MadeText, error) {
		r := d.Functions().(*functionReader)
		raw, err := r.capture(function)
		if err != nil {
			return nil, err
		}
		r.reader.read(raw, d.part(function))
		return r.reader.listings, nil
	})
}

// PlaceSource sets the path of the i-th listing's text. It must not run while functions are read.
func (d *Captures) PlaceSource(i int, name string) { d.sources.All[i].Place = name }

// addListings adds the texts of the function's listings, and renames their files to the paths of
// these texts.
func (r *functionReader) addListings(function int) {
	fn := r.reader.fn
	if len(r.reader.listings) == 0 {
		return
	}
	for i, name := range fn.Files {
		text, _ := source.ListingOf(r.reader.listings, name)
		fn.Files[i] = r.d.sources.ListingPlace(name, function)
		fn.Sources = append(fn.Sources, text)
	}
}
