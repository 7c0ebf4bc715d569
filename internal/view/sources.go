package view

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/words"
)

// A sourceFile has the lines of a file around those with samples.
type sourceFile struct {
	File  int    `json:"file"` // text: the path
	Parts []part `json:"parts,omitempty"`
	// Why says why there is no text.
	Why string `json:"why,omitempty"`
}

// A part is a run of lines.
type part struct {
	First int      `json:"first"` // from 1
	Lines []string `json:"lines"`
}

const (
	defaultSourceLimit = 4 << 20
	linesAround        = 15 // shown before and after a line with samples
	longestLine        = 500
	// farthestStart is how many lines a function's first line may precede its first line
	// with samples, to be shown with all between.
	farthestStart = 200
)

// A usedFile is a source file that has samples.
type usedFile struct {
	path    string
	samples int
	lines   map[int]bool
	ranges  [][2]int // from a function's first line to a line with samples
}

// embedSources returns the sources around all lines with samples, and notes about what is missing.
func embedSources(p *profile.Profile, tree *stackTree, texts *textTable, o Options) (list []sourceFile, notes []string) {
	limit := o.SourceLimit
	if limit == 0 {
		limit = defaultSourceLimit
	}
	list, notes = []sourceFile{}, []string{}
	left, tooMuch, missing := limit, 0, 0
	files := usedFiles(p, tree)
	bases := make(map[string]int) // number of files with a name
	for _, used := range files {
		bases[filepath.Base(used.path)]++
	}
	for _, used := range files {
		file := sourceFile{File: texts.add(used.path)}
		if left <= 0 {
			file.Why = "the page's limit of source text is reached"
			tooMuch++
			list = append(list, file)
			continue
		}
		text, beside, err := o.source(used.path, bases[filepath.Base(used.path)] == 1)
		if err != nil {
			file.Why = reason(err)
			missing++
			list = append(list, file)
			continue
		}
		parts, size := used.parts(text)
		switch {
		case len(parts) == 0:
			file.Why = "the file has fewer lines: it is not the one that was compiled"
			missing++
		case size > left:
			file.Why = "the page's limit of source text is reached"
			tooMuch++
		default:
			file.Parts = parts
			left -= size
			if beside != "" {
				notes = append(notes, fmt.Sprintf("The source of %s is that of %s, beside the result, because it cannot be read at its own path.", shown(used.path), shown(beside)))
			}
		}
		list = append(list, file)
	}
	if tooMuch > 0 {
		notes = append(notes, fmt.Sprintf("The page has at most %s bytes of source text: %s left out.", words.Number(int64(limit)), words.Plural(tooMuch, "file is", "files are")))
	}
	if missing > 0 {
		notes = append(notes, fmt.Sprintf("The source of %s was not available.", words.Count(int64(missing), "file")))
	}
	return list, notes
}

// source returns the text of a source file. If it cannot be read at its path, it is one below Beside that
// has the end of the path, the longest end first: sources are often copied with a recording. The name
// alone is enough if no other file has it. beside is the path of such a file, "" otherwise.
func (o *Options) source(path string, isOnly bool) (text []byte, beside string, err error) {
	text, err = o.Sources(path)
	if err == nil || o.Beside == "" {
		return text, "", err
	}
	rest := strings.TrimPrefix(filepath.Clean("/"+path), "/")
	for rest != "" && (isOnly || strings.Contains(rest, "/")) {
		beside = filepath.Join(o.Beside, rest)
		if text, err := o.Sources(beside); err == nil {
			return text, beside, nil
		}
		_, rest, _ = strings.Cut(rest, "/")
	}
	return nil, "", err
}

// reason returns why a file was not read, without its path, which the page shows anyway.
func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no such file"
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return shown(err.Error())
}

// usedFiles returns the files that have samples in one of their lines, those with most first.
func usedFiles(p *profile.Profile, tree *stackTree) []*usedFile {
	files := make(map[string]*usedFile)
	total := tree.totals(p)
	seen := make([]bool, len(tree.nodes))
	for i, stack := range p.Stacks {
		frame := p.Frames[stack.Frame]
		f := p.Functions[frame.Function]
		at := tree.of[i]
		if seen[at] || total[at] == 0 || tree.nodes[at].function == tree.leftOut || f.File == "" || frame.Line <= 0 {
			continue
		}
		seen[at] = true
		used := files[f.File]
		if used == nil {
			used = &usedFile{path: f.File, lines: make(map[int]bool)}
			files[f.File] = used
		}
		used.samples += total[at]
		if !used.lines[frame.Line] {
			used.lines[frame.Line] = true
			used.ranges = append(used.ranges, [2]int{startOf(f, frame.Line), frame.Line})
		}
	}
	var list []*usedFile
	for _, used := range files {
		list = append(list, used)
	}
	sorting.By(list, func(a, b *usedFile) int {
		return cmp.Or(cmp.Compare(b.samples, a.samples), strings.Compare(a.path, b.path))
	})
	return list
}

// startOf returns the first line to show of f, for samples in line.
func startOf(f profile.Function, line int) int {
	if f.Line > 0 && f.Line < line && line-f.Line <= farthestStart {
		return f.Line
	}
	return line
}

// parts returns the lines of text near those with samples, and their size in bytes.
func (used *usedFile) parts(text []byte) (parts []part, size int) {
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	sorting.By(used.ranges, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	next := 1 // the first line that is not yet in a part
	for _, r := range used.ranges {
		if r[1] > len(lines) {
			continue
		}
		first, last := max(r[0]-linesAround, next), min(r[1]+linesAround, len(lines))
		if first > last {
			continue
		}
		if len(parts) == 0 || first > next {
			parts = append(parts, part{First: first})
		}
		at := &parts[len(parts)-1]
		for _, line := range lines[first-1 : last] {
			clean := sourceLine(line)
			at.Lines = append(at.Lines, clean)
			size += len(clean) + 1
		}
		next = last + 1
	}
	return parts, size
}

// sourceLine returns a line without invisible characters but tabs, cut if it is long: that of a
// minified program has megabytes.
func sourceLine(line []byte) string {
	line = bytes.TrimSuffix(line, []byte("\r"))
	isCut := len(line) > longestLine
	if isCut {
		line = line[:longestLine]
	}
	clean := strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(string(line), "\uFFFD"))
	if isCut {
		clean += "…"
	}
	return clean
}
