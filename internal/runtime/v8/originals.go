package v8

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/jitinject/jitinject/internal/format/sourcemap"
	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/source"
)

// Originals of transpiled scripts, by their source maps.

// originals are the source maps of a dump's texts, by number of the text; nil for texts without one.
type originals []*scriptMap

// A scriptMap is the source map of a text.
type scriptMap struct {
	*sourcemap.Map
	line, column uint32             // where the script begins in the text: see script
	files        []jitdump.Original // by index in Sources, without lines; an unknown file has no name
	names        map[uint64]string  // of functions, by nameKey of their start
}

// maxMaps bounds the memory of a dump's maps, in bytes.
const maxMaps = 96 << 20

// A file is read under each of its paths: under maxUses paths, and up to maxAgain bytes in all.
const (
	maxUses  = 16
	maxAgain = 1 << 20
)

// A mapPlace is a file under a path.
type mapPlace struct {
	file sys.Inode
	path string
}

// A mapLoader loads the source maps of a dump.
type mapLoader struct {
	*attacher
	t      *target
	list   []source.Source
	texts  map[textID]int          // numbers in list, of originals
	starts map[int32][]start       // of functions, by number of the text; nil before the first use
	uses   map[sys.Inode]int       // of files: how often they were read
	read   map[mapPlace]*scriptMap // without what is of a script
	memory int

	absent      int    // number of maps that are in no file
	firstAbsent string // message about the first
	full        int    // number of maps for which there was no memory
}

// loadMaps returns the originals of a dump, and its texts with those in maps. list has the texts of
// its scripts. A map that cannot be used becomes a problem or a note.
func (a *attacher) loadMaps(t *target, list []source.Source) (originals, []source.Source) {
	l := &mapLoader{attacher: a, t: t, list: list, texts: make(map[textID]int), uses: make(map[sys.Inode]int), read: make(map[mapPlace]*scriptMap)}
	o := make(originals, len(list))
	seen := make([]bool, len(list))
	for _, x := range t.indexes {
		for i := range x.scripts {
			s := &x.scripts[i]
			if s.number == unknown || seen[s.number] || a.ctx.Err() != nil {
				continue
			}
			seen[s.number] = true
			m, err := l.load(x, s)
			if err != nil {
				a.Found.Problem(report.Problem{Code: report.ProblemUnused, File: s.url, Offset: -1, Text: fmt.Sprintf("its source map cannot be used: %v; its places are not mapped", err)})
			}
			o[s.number] = m
		}
	}
	if l.absent > 0 {
		text := l.firstAbsent
		if l.absent > 1 {
			text += fmt.Sprintf(", and those of %d more scripts are in no file", l.absent-1)
		}
		a.Found.Note(text + "; places there are not mapped")
	}
	if l.full > 0 {
		a.Found.Problem(report.Problem{Code: report.ProblemLimit, File: t.path, Offset: -1, Text: fmt.Sprintf("its source maps need more than %d MiB; %d are left out", maxMaps>>20, l.full)})
	}
	return o, l.list
}

// load loads the map of a script. It is nil if the script names none, or one that is in no file.
func (l *mapLoader) load(x *index, s *script) (*scriptMap, error) {
	span, ok, err := mapComment(x.src, s.text)
	if err != nil || !ok {
		return nil, err
	}
	raw, err := v8log.ReadSpan(x.src, v8log.Span{Off: span.Off, Size: min(span.Size, v8log.MaxName)}, v8log.MaxName, nil)
	if err != nil {
		return nil, err
	}
	var src io.ReaderAt
	var size int64
	var at mapPlace
	base := s.url
	if isData(raw) {
		src, size, err = dataOf(x.src, span, raw)
	} else {
		ref := string(v8log.AppendText(nil, raw))
		if base, err = mapPath(s.url, ref); err != nil {
			return nil, err
		}
		var file *mapFile
		if file, err = l.openMap(l.t, s.url, base); err == errAbsent {
			if l.absent++; l.absent == 1 {
				l.firstAbsent = fmt.Sprintf("%s: its source map %s is in no file", quote.Printable(s.url), quote.Printable(base))
			}
			return nil, nil
		}
		if err == nil {
			defer func() { file.now.Close(); file.now = nil }()
			src = file
			var st fs.FileInfo
			if st, err = file.now.Stat(); err == nil {
				size = st.Size()
				if at = (mapPlace{sys.InodeOf(st), base}); l.read[at] == nil {
					l.uses[at.file]++
				}
				if n := l.uses[at.file]; n > maxUses && int64(n)*size > maxAgain {
					err = fmt.Errorf("scripts name it by more than %d paths", n-1)
				}
			}
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", quote.Printable(base), err)
		}
	}
	if err != nil {
		return nil, err
	}
	shared := l.read[at]
	if shared == nil {
		if shared, err = l.readMap(s, src, size, base); shared == nil {
			return nil, err
		}
	}
	if at.path != "" {
		l.read[at] = shared
	}
	m := shared.Map
	if err := fits(m, s); err != nil {
		return nil, err
	}
	if m.Damaged > 0 {
		l.Found.Problem(report.Problem{Code: report.ProblemDamage, File: s.url, Offset: -1, Text: fmt.Sprintf("%d places in its source map are invalid; they are not mapped", m.Damaged)})
	}
	sm := &scriptMap{Map: m, line: s.Line, column: s.Column, files: shared.files}
	if m.HasNames() {
		if l.starts == nil {
			l.starts = l.t.startsOf()
		}
		sm.names, err = functionNames(x, s, m, l.starts[s.number])
	}
	return sm, err
}

// fits returns an error if a map is of another text than a script.
func fits(m *sourcemap.Map, s *script) error {
	if int(m.Lines()) > s.Lines.Count() {
		return fmt.Errorf("it is of another text: it describes %d lines, the script has %d", m.Lines(), s.Lines.Count())
	}
	return nil
}

// readMap reads the map of a script, which has a path or URL. It is nil if there is no memory for it.
func (l *mapLoader) readMap(s *script, src io.ReaderAt, size int64, base string) (*scriptMap, error) {
	m, err := sourcemap.Read(src, size)
	if err == nil {
		err = fits(m, s) // otherwise it takes no memory, and its texts are none of the dump's
	}
	if err != nil {
		return nil, err
	}
	if l.memory += m.Memory(); l.memory > maxMaps {
		l.memory -= m.Memory()
		l.full++
		return nil, nil
	}
	sm := &scriptMap{Map: m}
	names := sourcemap.MostNames(size)
	for i := range m.Sources {
		o := l.original(m, i, base)
		if names -= int64(len(o.File)); names < 0 {
			return nil, errors.New("its own path is too long for so many sources")
		}
		sm.files = append(sm.files, o)
	}
	return sm, nil
}

// original returns the i-th original file of a map with a path or URL. Its text becomes one of the
// dump's.
func (l *mapLoader) original(m *sourcemap.Map, i int, base string) jitdump.Original {
	s := &m.Sources[i]
	o := jitdump.Original{File: originalName(s.URL, base), Text: -1}
	if o.File == "" || !s.Content {
		return o
	}
	id := textID{url: o.File, digest: s.Digest, units: int64(s.Size)}
	n, ok := l.texts[id]
	if !ok {
		n = len(l.list)
		l.texts[id] = n
		l.list = append(l.list, source.Source{
			Name: o.File, Path: pathOf(o.File), Size: s.Size, Text: func(w io.Writer) error { return m.WriteText(w, i) },
		})
	}
	o.Text = n
	return o
}

// originalName returns the name of an original file with a URL in a map, which has a path or URL
// itself. It is a path if it can be one.
func originalName(ref, base string) string {
	if ref == "" || sourcemap.Scheme(ref) != "" {
		return jitdump.FileName(ref)
	}
	if scheme := sourcemap.Scheme(base); scheme != "" && scheme != "file" {
		return resolved(ref, scheme, base)
	}
	if plain, err := url.PathUnescape(ref); err == nil && !strings.ContainsRune(plain, 0) {
		ref = plain
	}
	if base = jitdump.FileName(base); path.IsAbs(ref) || !path.IsAbs(base) {
		return path.Clean(ref)
	}
	return path.Join(path.Dir(base), ref)
}

// resolved returns the URL of a reference in a file with a URL, as both are written there. Without a host, as in
// blob:https://host/id, it is the reference itself. net/url would quote characters, and its parser is 20 kB of the program.
func resolved(ref, scheme, base string) string {
	rest, ok := strings.CutPrefix(base, scheme+"://")
	if query := strings.IndexAny(rest, "?#"); query >= 0 {
		rest = rest[:query]
	}
	host, file, _ := strings.Cut(rest, "/")
	switch {
	case !ok || host == "":
		return ref
	case strings.HasPrefix(ref, "//"):
		return scheme + ":" + ref
	case !strings.HasPrefix(ref, "/"):
		ref = path.Dir("/"+file) + "/" + ref
	}
	return scheme + "://" + host + path.Clean(ref)
}

// own returns the map of a text, and a place of the text in the script.
func (o originals) own(text int, line, column uint32) (*scriptMap, uint32, uint32) {
	if text >= len(o) || o[text] == nil {
		return nil, 0, 0
	}
	m := o[text]
	if line <= m.line {
		return nil, 0, 0
	}
	if line -= m.line; line == 1 {
		if column <= m.column {
			return nil, 0, 0
		}
		column -= m.column
	}
	return m, line, column
}

// Original returns the original of a place in a text.
func (o originals) Original(text int, line, column uint32) (jitdump.Original, bool) {
	m, line, column := o.own(text, line, column)
	if m == nil {
		return jitdump.Original{}, false
	}
	p, ok := m.Find(line, column)
	if !ok {
		return jitdump.Original{}, false
	}
	original := m.files[p.Source]
	original.Line, original.Column = p.Line, p.Column
	return original, original.File != ""
}

// OriginalName returns the original name of the function that begins at a place of a text.
func (o originals) OriginalName(text int, line, column uint32) string {
	m, line, column := o.own(text, line, column)
	if m == nil {
		return ""
	}
	return m.names[startKey(line, column)]
}

// startKey is the key of a function's start in scriptMap.names.
func startKey(line, column uint32) uint64 { return uint64(line)<<32 | uint64(column) }
