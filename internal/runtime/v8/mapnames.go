package v8

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/format/sourcemap"
	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Original names of functions. A map has names of identifiers. V8 says where a function begins: at
// its parameters. So the function's identifier is looked for in the text before that: "function
// NAME(", "NAME(" in a class, "NAME=(" and the like.

// A start is where a function begins.
type start struct {
	unit     int32 // of the script
	function int32 // of index
	index    *index
	before   string // text of the line before it, or its end
}

// maxBeforeStart is how much text before a function's start is searched, in bytes.
const maxBeforeStart = 256

// startsOf returns the starts of the functions in a dump's texts, by number of the text. Isolates
// that have a script in common may have compiled different functions of it.
func (t *target) startsOf() map[int32][]start {
	all := make(map[int32][]start)
	for _, x := range t.indexes {
		for i := range int32(len(x.functions)) {
			f := &x.functions[i]
			if f.script == unknown || f.start < 0 || x.scripts[f.script].number == unknown {
				continue
			}
			n := x.scripts[f.script].number
			all[n] = append(all[n], start{unit: f.start, function: i, index: x})
		}
	}
	return all
}

// functionNames returns the original names of a script's functions that have another one there, by
// their start.
func functionNames(x *index, s *script, m *sourcemap.Map, starts []start) (map[uint64]string, error) {
	sorting.Stable(starts, func(a, b start) int { return cmp.Compare(a.unit, b.unit) })
	starts = slices.CompactFunc(starts, func(a, b start) bool { return a.unit == b.unit })
	if err := v8log.WriteText(&startFinder{starts: starts}, x.src, s.text); err != nil {
		return nil, err
	}
	names := make(map[uint64]string)
	for i := range starts {
		st := &starts[i]
		name, err := st.index.readName(st.function)
		if err != nil {
			return nil, err
		}
		prefix := ""
		for _, accessor := range []string{"get ", "set "} {
			if rest, ok := strings.CutPrefix(name, accessor); ok {
				prefix, name = accessor, rest
			}
		}
		units, ok := identifierBefore(st.before, name)
		if !ok {
			if units, ok = classBefore(st.before, name); !ok {
				continue
			}
		}
		line, column, ok := s.Lines.Position(st.unit)
		if !ok || uint32(units) >= column {
			continue
		}
		if p, ok := m.Find(line, column-uint32(units)); ok && p.Exact && p.Name != "" && p.Name != name {
			names[startKey(line, column)] = prefix + p.Name
		}
	}
	return names, nil
}

// A startFinder gets the text of a script, and finds the text before starts. They are sorted.
type startFinder struct {
	starts []start
	unit   int32
	line   []byte // of the current line, at most some times maxBeforeStart
}

// Write adds text in whole characters.
func (f *startFinder) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && len(f.starts) > 0; {
		for len(f.starts) > 0 && f.starts[0].unit <= f.unit {
			f.starts[0].before = string(f.line[max(0, len(f.line)-maxBeforeStart):])
			f.starts = f.starts[1:]
		}
		r, size := utf8.DecodeRune(rest)
		switch r {
		case '\n', '\r', 0x2028, 0x2029:
			f.line = f.line[:0]
		default:
			if len(f.line) > 4*maxBeforeStart {
				f.line = f.line[:copy(f.line, f.line[len(f.line)-maxBeforeStart:])]
			}
			f.line = append(f.line, rest[:size]...)
		}
		if f.unit++; r > 0xffff {
			f.unit++
		}
		rest = rest[size:]
	}
	return len(p), nil
}

// between are the tokens that may be between a function's name and its parameters.
var between = []string{"function", "async", "=", ":", "*", "("}

// identifierBefore returns how many UTF-16 units before the end of a text an identifier begins that
// is the name of the function after it.
func identifierBefore(text, name string) (units int, ok bool) {
	if name == "" || !isIdentifier(name) {
		return 0, false
	}
	for rest := text; ; {
		rest = strings.TrimRight(rest, " \t")
		if before, ok := strings.CutSuffix(rest, name); ok && !endsInIdentifier(before) {
			return unitsOf(text[len(before):]), true
		}
		cut := false
		for _, token := range between {
			if before, ok := strings.CutSuffix(rest, token); ok && !cut {
				rest, cut = before, true
			}
		}
		if !cut {
			return 0, false
		}
	}
}

// classBefore is identifierBefore for a constructor, which has the name of its class. Other members
// may be before it.
func classBefore(text, name string) (units int, ok bool) {
	header := "class " + name
	i := strings.LastIndex(text, header)
	if !strings.HasSuffix(text, "constructor") || i < 0 || endsInIdentifier(text[:i]) {
		return 0, false
	}
	if r, _ := utf8.DecodeRuneInString(text[i+len(header):]); isPart(r) {
		return 0, false
	}
	return unitsOf(text[i+len("class "):]), true
}

// unitsOf returns the length of a text in UTF-16 code units.
func unitsOf(text string) (n int) {
	for _, r := range text {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// isPart reports whether a character may be in an identifier.
func isPart(r rune) bool {
	return r == '$' || r == '_' || r == '#' || r == 0x200c || r == 0x200d || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// isIdentifier reports whether a name is an identifier, or one of a private member.
func isIdentifier(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool { return !isPart(r) }) < 0
}

// endsInIdentifier reports whether a text ends in a part of an identifier.
func endsInIdentifier(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return text != "" && isPart(r)
}
