package source

import (
	"bytes"
	"fmt"
	"sort"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// Source files that a dump brings along.

// A Source is the text of a source file in a dump. It holds for the functions that
// are loaded behind it, until another of the same name takes its place.
type Source struct {
	Name     string // as lines refer to it
	Function int    // the first function it holds for
	Size     int    // of the text in bytes

	place   string // what the file is called instead
	at      span   // its record
	listing bool   // it is made of what Function's record says, and holds for no other
}

// sources are those of a dump, in the order of the file.
type sources struct {
	all      []Source
	byName   map[string][]int  // without listings
	listings map[listingID]int // their places in all
}

// maxSources bounds how many sources of a dump are believed in.
const maxSources = 1 << 20

// add adds the source of a name with a text of size bytes, in the record at, for function and
// those after it. It reports false if there are too many.
func (s *sources) add(name string, size int, at span, function int) bool {
	if len(s.all) >= maxSources {
		return false
	}
	if s.byName == nil {
		s.byName = make(map[string][]int)
	}
	s.byName[name] = append(s.byName[name], len(s.all))
	s.all = append(s.all, Source{Name: name, Function: function, Size: size, at: at})
	return true
}

// of returns the number of the source that a function means by a file name.
func (s *sources) of(name string, function int) (int, bool) {
	list := s.byName[name]
	later := sort.Search(len(list), func(i int) bool { return s.all[list[i]].Function > function })
	if later == 0 {
		return 0, false
	}
	return list[later-1], true
}

// Sources returns the source files that the dump brings along, as far as it was
// scanned. The slice belongs to d and only ever grows.
func (d *Jitdump) Sources() []Source { return d.sources.all }

// SourceText reads the text of the i-th source.
func (d *Jitdump) SourceText(i int) ([]byte, error) {
	s := &d.sources.all[i]
	if s.listing {
		return d.listing(i)
	}
	var w window
	if err := w.hold(d.src, s.at); err != nil {
		return nil, err
	}
	raw, err := w.record(s.at, d.order())
	if err != nil {
		return nil, err
	}
	e, err := raw.EmbeddedSource()
	if err != nil {
		return nil, err
	}
	return bytes.Clone(e.Text), nil
}

// PlaceSource says under which name the text of the i-th source can be found: what
// functions call the file from then on. It must not run while functions are read.
func (d *Jitdump) PlaceSource(i int, name string) { d.sources.all[i].place = name }

// texts are the texts that a reader holds, by the number of their source.
type texts struct {
	held map[int]string
	size int
}

// maxTexts bounds the bytes of text that a reader holds between functions.
const maxTexts = 16 << 20

// addTexts adds what is known of the contents of fn's files, and calls those files
// by the names that their texts are placed under.
func (r *Reader) addTexts(fn *jitcode.Function) {
	if len(r.d.sources.all) == 0 {
		return
	}
	for i, name := range fn.Files {
		text := ""
		if text = r.listing(name); text != "" {
			fn.Files[i] = r.d.sources.listingPlace(name, r.function)
		} else if n, ok := r.d.sources.of(name, r.function); ok {
			if r.d.sources.all[n].Size <= jitcode.MaxText {
				var err error
				if text, err = r.text(n); err != nil {
					r.problem(r.d.sources.all[n].at.off, "%v; the source file is left out", err)
				}
			}
			if place := r.d.sources.all[n].place; place != "" {
				fn.Files[i] = place
			}
		}
		fn.Texts = append(fn.Texts, text)
	}
}

// listing returns the listing that stands for a file of the function, or "".
func (r *Reader) listing(file string) string {
	text, _ := listingOf(r.listings, file)
	return text
}

// text returns the text of a source, the same string as long as it is held.
func (r *Reader) text(n int) (string, error) {
	if text, ok := r.texts.held[n]; ok {
		return text, nil
	}
	b, err := r.d.SourceText(n)
	if err != nil {
		return "", fmt.Errorf("source file %s: %w", r.d.sources.all[n].Name, err)
	}
	if r.texts.size+len(b) > maxTexts || r.texts.held == nil {
		r.texts = texts{held: make(map[int]string)}
	}
	r.texts.held[n] = string(b)
	r.texts.size += len(b)
	return r.texts.held[n], nil
}
