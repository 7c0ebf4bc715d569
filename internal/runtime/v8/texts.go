package v8

import (
	"bufio"
	"bytes"
	"io"
	"path"
	"strings"

	"github.com/jitinject/jitinject/internal/format/sourcemap"
	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/source"
)

// Texts of scripts. V8 logs the text of each script with code in the log: of files, of the
// runtime's own modules, and of evaluated code. They become sources of the dump.

// A textID identifies a text. Texts with the same one are equal.
type textID struct {
	url          string
	digest       uint64
	units        int64
	line, column uint32
}

// texts returns the texts of the scripts in a dump's logs, each once, and sets their numbers in the
// scripts. Isolates share the texts of the runtime's modules.
func (t *target) texts() (list []source.Source) {
	numbers := make(map[textID]int32)
	for _, x := range t.indexes {
		used := x.usedScripts()
		for i := range x.scripts {
			s := &x.scripts[i]
			s.number = unknown
			if s.isUnnamed() && !used[i] {
				continue // no line can refer to it
			}
			id := textID{s.url, s.Lines.Digest, s.Lines.Units, s.Line, s.Column}
			n, ok := numbers[id]
			if !ok && s.Line <= maxBefore && s.Column <= maxBefore {
				n, ok = int32(len(list)), true
				numbers[id] = n
				size := s.Lines.Units + int64(s.Line) + int64(s.Column)
				list = append(list, source.Source{Name: jitdump.FileName(s.url), Path: s.path(), Size: int(size), Text: x.text(s)})
			}
			if ok {
				s.number = n
			}
		}
	}
	return list
}

// usedScripts returns the scripts with inlined functions or paired code.
func (x *index) usedScripts() map[int]bool {
	used := make(map[int]bool)
	for i := range x.objects {
		used[int(x.objects[i].script)] = true
	}
	for _, fn := range x.inlined {
		if fn != unknown {
			used[int(x.functions[fn].script)] = true
		}
	}
	return used
}

// isUnnamed reports whether the script has no name of its own: it was evaluated.
func (s *script) isUnnamed() bool { return s.url == "" || s.url == noURL }

// maxBefore bounds the lines and columns of a file before its script.
const maxBefore = 1 << 20

// text returns the text of a script, at its lines and columns in its file. The rest of the file is
// blank: the log does not have it.
func (x *index) text(s *script) source.Text {
	src, span := x.src, s.text
	line, column := int(s.Line), int(s.Column)
	return func(w io.Writer) error {
		b := bufio.NewWriter(w)
		b.Write(bytes.Repeat([]byte{'\n'}, line))
		b.Write(bytes.Repeat([]byte{' '}, column))
		err := v8log.WriteText(b, src, span)
		if err := b.Flush(); err != nil {
			return err
		}
		if err != nil {
			return x.problem(err)
		}
		return nil
	}
}

// path returns a path for a file with the text of a script, or "" if its name is one.
func (s *script) path() string {
	if s.isUnnamed() {
		return "eval.js"
	}
	return pathOf(s.url)
}

// pathOf returns a path for a file with a URL, or "" if the URL is a path. It has no colons: tools
// that print FILE:LINE, and perf annotate, which reads that, take the first colon for the end of
// the file's name.
func pathOf(url string) string {
	scheme := sourcemap.Scheme(url)
	if scheme == "" || scheme == "file" {
		return ""
	}
	rest := strings.ReplaceAll(strings.TrimLeft(url[len(scheme)+1:], "/"), ":", "_")
	if scheme == "node" && path.Ext(rest) == "" { // modules such as fs and fs/promises
		rest += ".js"
	}
	return scheme + "/" + rest
}

// Texts returns the numbers of the texts of the files of the last tree.
func (t *Trees) Texts() []int {
	t.texts = append(t.texts[:0], make([]int, len(t.info.Files))...)
	for s, i := range t.files {
		t.texts[i] = int(t.x.scripts[s].number)
	}
	return t.texts
}

// Sources returns the texts of the log's scripts. The slice belongs to the log.
func (l *Log) Sources() []source.Source { return l.sources.All }

// Text returns the i-th text.
func (l *Log) Text(i int) (source.Text, error) { return l.sources.All[i].Text, nil }

// PlaceSource sets the path of the i-th text. Functions then use this name for the file. It must not run while
// functions are read.
func (l *Log) PlaceSource(i int, name string) { l.sources.All[i].Place = name }
