package jitdump

import (
	"bytes"
	"fmt"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// Sources returns the embedded sources scanned so far. The slice belongs to the dump and only ever grows.
func (l *listing) Sources() []source.Source { return l.sources.All }

// Text returns the text of the i-th source. It is in memory, unless it is outside the dump.
func (l *listing) Text(i int) (source.Text, error) {
	if text := l.sources.All[i].Text; text != nil {
		return text, nil
	}
	text, err := l.SourceText(i)
	return source.TextOf(text), err
}

// SourceText reads the text of the i-th source.
func (l *listing) SourceText(i int) ([]byte, error) {
	s := &l.sources.All[i]
	if s.Text != nil {
		var b bytes.Buffer
		err := s.Text(&b)
		return b.Bytes(), err
	}
	if s.Listing {
		return l.listingText(i)
	}
	w := l.window()
	raw, err := w.only(s.At)
	if err != nil {
		return nil, err
	}
	e, err := raw.EmbeddedSource()
	if err != nil {
		return nil, err
	}
	return bytes.Clone(e.Text), nil
}

// PlaceSource sets the path of the i-th source's text. Functions then use this name for the file.
// It must not run while functions are read.
func (l *listing) PlaceSource(i int, name string) { l.sources.All[i].Place = name }

// embedded has the source texts that a reader holds, by the number of their source.
type embedded struct {
	held map[int]string
	size int
}

// maxEmbedded bounds the text that a reader holds between functions, in bytes.
const maxEmbedded = 16 << 20

// addEmbedded adds the known texts of fn's files, and renames the files to the paths of these
// texts.
func (r *Reader) addEmbedded(fn *jitcode.Function) {
	if len(r.listing.sources.All) == 0 {
		return
	}
	for i, name := range fn.Files {
		text, _ := source.ListingOf(r.listings, name)
		if text != "" {
			fn.Files[i] = r.listing.sources.ListingPlace(name, r.function)
		} else if n, ok := r.sourceOf(fn, i); ok {
			if s := &r.listing.sources.All[n]; s.Size <= jitcode.MaxText && (s.Text == nil || r.description.Embed) {
				var err error
				if text, err = r.text(n); err != nil {
					r.problem(r.listing.sources.All[n].At.Off, "%v; the source file is left out", err)
				}
				if len(text) > jitcode.MaxText {
					text = ""
				}
			}
			if place := r.listing.sources.All[n].Place; place != "" {
				fn.Files[i] = place
			}
		}
		fn.Sources = append(fn.Sources, text)
	}
}

// sourceOf returns the number of the source of fn's i-th file.
func (r *Reader) sourceOf(fn *jitcode.Function, i int) (int, bool) {
	if i < len(r.texts) && r.texts[i] >= 0 {
		return r.texts[i], true
	}
	return r.listing.sources.Of(fn.Files[i], r.function)
}

// text returns the text of a source. While it is held, it is the same string.
func (r *Reader) text(n int) (string, error) {
	if text, ok := r.embedded.held[n]; ok {
		return text, nil
	}
	b, err := r.listing.SourceText(n)
	if err != nil {
		return "", fmt.Errorf("source file %s: %w", r.listing.sources.All[n].Name, err)
	}
	if r.embedded.size+len(b) > maxEmbedded || r.embedded.held == nil {
		r.embedded = embedded{held: make(map[int]string)}
	}
	r.embedded.held[n] = string(b)
	r.embedded.size += len(b)
	return r.embedded.held[n], nil
}
