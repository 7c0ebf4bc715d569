package sourcemap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
)

// A parser reads the JSON of a map as a stream of tokens: texts of sources are passed over.
type parser struct {
	*json.Decoder
	start int64 // offset of the JSON in the file
	names int64 // bytes that the names of sources may still have
}

// guard begins maps that servers keep from being run as scripts. The rest of its line is ignored.
const guard = ")]}"

// newParser returns a parser of a map of size bytes.
func newParser(src io.ReaderAt, size int64) (*parser, error) {
	var head [256]byte
	n, err := src.ReadAt(head[:min(int64(len(head)), size)], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	p := &parser{names: MostNames(size)}
	begin := head[:n]
	if rest, ok := bytes.CutPrefix(begin, []byte("\xef\xbb\xbf")); ok {
		p.start, begin = 3, rest
	}
	if bytes.HasPrefix(begin, []byte(guard)) {
		line := bytes.IndexByte(begin, '\n')
		if line < 0 {
			return nil, errNotMap
		}
		p.start += int64(line) + 1
	}
	p.Decoder = json.NewDecoder(io.NewSectionReader(src, p.start, size-p.start))
	p.UseNumber() // in what is passed over, any is right
	return p, nil
}

// fail returns an error at the last token. It does not show the content: the file may be no map.
func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("source map: offset %#x: %s", p.start+p.InputOffset(), fmt.Sprintf(format, args...))
}

// token reads the next token.
func (p *parser) token() (json.Token, error) {
	t, err := p.Token()
	return t, p.explained(err)
}

// value reads a value that is want, in words.
func (p *parser) value(to any, want string) error {
	err := p.Decode(to)
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) {
		return p.fail("this is not %s", want)
	}
	return p.explained(err)
}

// explained says in a decoder's error where it is.
func (p *parser) explained(err error) error {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("source map: offset %#x: this is no JSON", p.start+syntax.Offset)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return p.fail("the JSON ends too early")
	}
	return err
}

// document reads the whole map.
func (p *parser) document(m *Map) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return errNotMap
	}
	return p.object(m, true)
}

// object reads a map or a section's map after its brace, and adds it as a part.
func (p *parser) object(m *Map, whole bool) error {
	part := part{sources: span{first: int32(len(m.Sources))}, names: span{first: int32(len(m.names))}}
	root, version, sections := "", int64(0), false
	var texts []Source
	for p.More() {
		key, err := p.token()
		if err != nil {
			return err
		}
		switch key {
		case "version":
			err = p.value(&version, "a number")
		case "sourceRoot":
			err = p.value(&root, "a text")
		case "mappings":
			err = p.value(&part.mappings, "a text")
		case "sources":
			err = p.list("sources", len(m.Sources), maxSources, func(text string, _, _ int64, _ bool) {
				m.Sources = append(m.Sources, Source{URL: text})
			})
		case "names":
			err = p.list("names", len(m.names), maxNames, func(text string, _, _ int64, _ bool) { m.names = append(m.names, text) })
		case "sourcesContent":
			err = p.list("texts", len(texts), maxSources, func(text string, from, to int64, null bool) {
				texts = append(texts, Source{Content: !null, Size: len(text), Digest: maphash.String(seed, text), at: from, size: to - from})
			})
		case "sections":
			if !whole {
				return p.fail("a section has sections")
			}
			sections = true
			err = p.sections(m)
		default:
			err = p.skip()
		}
		if err != nil {
			return err
		}
	}
	if _, err := p.token(); err != nil { // the closing brace
		return err
	}
	if version != 3 {
		return errNotMap
	}
	part.sources.count = int32(len(m.Sources)) - part.sources.first
	part.names.count = int32(len(m.names)) - part.names.first
	if sections {
		if part.mappings != "" || len(texts) > 0 {
			return p.fail("the map has sections and mappings")
		}
		return nil
	}
	for i := range min(len(texts), int(part.sources.count)) {
		s := &m.Sources[int(part.sources.first)+i]
		url := s.URL
		*s = texts[i]
		s.URL = url
	}
	for i := range part.sources.count {
		if s := &m.Sources[part.sources.first+i]; root != "" && s.URL != "" && s.URL[0] != '/' && Scheme(s.URL) == "" {
			if p.names -= int64(len(root) + 1 + len(s.URL)); p.names < 0 {
				return p.fail("the sourceRoot is too long for so many sources")
			}
			s.URL = strings.TrimSuffix(root, "/") + "/" + s.URL // a root is a directory, with or without the slash
		}
	}
	m.parts = append(m.parts, part)
	return nil
}

// Scheme returns the scheme of a URL, or "" for a relative one or a path [RFC 3986, 3.1]. A single
// letter is none.
func Scheme(url string) string {
	scheme, _, ok := strings.Cut(url, ":")
	for i, c := range scheme {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", c)) {
			return ""
		}
	}
	if !ok || len(scheme) < 2 {
		return ""
	}
	return scheme
}

var seed = maphash.MakeSeed()

// sections reads the sections of an index map.
func (p *parser) sections(m *Map) error {
	if t, err := p.token(); err != nil || t != json.Delim('[') {
		return p.wrong(err, "a list of sections")
	}
	for n := 0; p.More(); n++ {
		if n == maxSections {
			return p.fail("the map has more than %d sections", maxSections)
		}
		if t, err := p.token(); err != nil || t != json.Delim('{') {
			return p.wrong(err, "a section")
		}
		if err := p.section(m); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

// section reads a section after its brace. Its offset may follow its map.
func (p *parser) section(m *Map) error {
	var at struct{ Line, Column int32 }
	count := len(m.parts)
	for p.More() {
		key, err := p.token()
		if err != nil {
			return err
		}
		var t json.Token
		switch key {
		case "offset":
			if err = p.value(&at, "the offset of a section"); err == nil && (at.Line < 0 || at.Column < 0) {
				err = p.fail("a section begins before its file")
			}
		case "map":
			if t, err = p.token(); err != nil || t != json.Delim('{') {
				return p.wrong(err, "the map of a section")
			}
			if len(m.parts) > count {
				return p.fail("a section has two maps")
			}
			err = p.object(m, false)
		case "url":
			return p.fail("a section is in another file")
		default:
			err = p.skip()
		}
		if err != nil {
			return err
		}
	}
	if _, err := p.token(); err != nil {
		return err
	}
	if len(m.parts) == count {
		return p.fail("a section has no map")
	}
	q := &m.parts[count]
	q.line, q.column = uint32(at.Line), uint32(at.Column)
	if count > 0 {
		if last := &m.parts[count-1]; q.line < last.line || q.line == last.line && q.column < last.column {
			return p.fail("a section begins before the last one")
		}
	}
	return nil
}

// wrong returns err, or else an error that something else is expected.
func (p *parser) wrong(err error, want string) error {
	if err != nil {
		return err
	}
	return p.fail("this is not %s", want)
}

// list reads a list of strings and nulls, so many that the map has most of a kind with those before. add gets the
// offsets of each string as JSON, with the separators before it.
func (p *parser) list(kind string, before, most int, add func(text string, from, to int64, null bool)) error {
	t, err := p.token()
	if err == nil && t == nil {
		return nil // null
	}
	if err != nil || t != json.Delim('[') {
		return p.wrong(err, "a list")
	}
	for n := before; p.More(); n++ {
		from := p.InputOffset()
		t, err := p.token()
		if err != nil {
			return err
		}
		s, ok := t.(string)
		if !ok && t != nil {
			return p.fail("this is no text")
		}
		if n == most {
			return p.fail("the map has more than %d %s", most, kind)
		}
		add(s, p.start+from, p.start+p.InputOffset(), t == nil)
	}
	_, err = p.token()
	return err
}

// skip passes over a value.
func (p *parser) skip() error {
	for depth := 0; ; {
		t, err := p.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// WriteText writes the text of the i-th source. It fails if the text cannot be read again, or with
// w's error.
func (m *Map) WriteText(w io.Writer, i int) error {
	s := &m.Sources[i]
	b := make([]byte, s.size)
	if n, err := m.src.ReadAt(b, s.at); n < len(b) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("source map: offset %#x: %w", s.at, err)
	}
	var text string
	if err := json.Unmarshal(bytes.TrimLeft(b, " \t\r\n,"), &text); err != nil || len(text) != s.Size {
		return fmt.Errorf("source map: offset %#x: the text has changed since it was read first", s.at)
	}
	_, err := io.WriteString(w, text)
	return err
}
