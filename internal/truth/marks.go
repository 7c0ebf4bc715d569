package truth

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A Mark is the hot line of one or more functions.
type Mark struct {
	File  string // base name of the source
	Line  int    // from 1
	Names []Name // at least one
}

// A Name is a function with samples on a marked line.
type Name struct {
	Function string // a word of the symbol that perf shows
	Inner    string // the inlined function that has the line, or ""
}

// String returns the mark's first function.
func (m *Mark) String() string { return m.Names[0].Function }

// mark matches the comment. In other uses of "hot:", other text follows.
var mark = regexp.MustCompile(`(?://|#|--|%)\s*hot: (.*?)\s*$`)

// name matches the name of a function in a mark: a word, and punctuation of languages
// around it.
var name = regexp.MustCompile(`^[\w$<>{}/.:+?!'-]+\*?$`)

// path matches the start of a source's path in a symbol.
var path = regexp.MustCompile(`[ :](file:/)?/`)

// Marks reads the marks of source files. It fails for a malformed mark, a file without
// marks, and a function marked on two lines.
func Marks(paths ...string) ([]Mark, error) {
	var marks []Mark
	for _, source := range paths {
		more, err := marksOf(source)
		if err != nil {
			return nil, err
		}
		marks = append(marks, more...)
	}
	seen := make(map[string]*Mark)
	for i := range marks {
		for _, n := range marks[i].Names {
			if first := seen[n.Function]; first != nil {
				return nil, fmt.Errorf("%s:%d: %s is hot in %s:%d already", marks[i].File, marks[i].Line, n.Function, first.File, first.Line)
			}
			seen[n.Function] = &marks[i]
		}
	}
	return marks, nil
}

// marksOf reads the marks of one file.
func marksOf(path string) ([]Mark, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var marks []Mark
	in := bufio.NewScanner(f)
	for line := 1; in.Scan(); line++ {
		found := mark.FindStringSubmatch(in.Text())
		if found == nil {
			continue
		}
		m := Mark{File: filepath.Base(path), Line: line}
		for _, text := range strings.Split(found[1], ",") {
			outer, inner, nested := strings.Cut(text, ">")
			n := Name{Function: strings.TrimSpace(outer), Inner: strings.TrimSpace(inner)}
			if strings.HasPrefix(strings.TrimSpace(text), "<") { // <init> and the like
				n = Name{Function: strings.TrimSpace(text)}
				nested = false
			}
			if !name.MatchString(n.Function) || nested && !name.MatchString(n.Inner) {
				return nil, fmt.Errorf("%s:%d: %q is no mark; write hot: NAME, or hot: NAME > INNER", path, line, found[1])
			}
			m.Names = append(m.Names, n)
		}
		marks = append(marks, m)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(marks) == 0 {
		return nil, fmt.Errorf("%s: no line is marked with hot: NAME", path)
	}
	return marks, nil
}

// find returns the mark and the name that match a symbol, or nil. Of several names, it
// returns the longest.
func find(marks []Mark, symbol string) (*Mark, *Name) {
	// A path may follow; its parts are no functions: "JS:*f /a/b.js:1:2", "py::f:/a/b.py".
	// Other slashes are part of names: "m:f/2", "Outer/Inner:f".
	if m := path.FindStringIndex(symbol); m != nil {
		symbol = symbol[:m[0]]
	}
	var best *Mark
	var bestName *Name
	for i := range marks {
		for j := range marks[i].Names {
			n := &marks[i].Names[j]
			if hasWord(symbol, n.Function) && (bestName == nil || len(n.Function) > len(bestName.Function)) {
				best, bestName = &marks[i], n
			}
		}
	}
	return best, bestName
}

// hasWord reports whether a text has a word, with no letter, digit or underscore beside it.
// A star at the word's end stands for any of these.
func hasWord(text, word string) bool {
	word, prefix := strings.CutSuffix(word, "*")
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(word)
		if (at == 0 || !letter(text[at-1]) || !letter(word[0])) && (prefix || end == len(text) || !letter(text[end]) || !letter(word[len(word)-1])) {
			return true
		}
		from = at + 1
	}
}

func letter(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
