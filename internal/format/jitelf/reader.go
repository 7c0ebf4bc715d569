package jitelf

import (
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/ehframe"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// A Reader describes the functions of an object. Each goroutine needs its own.
type Reader struct {
	o       *Object
	paths   map[tableFile]string // of all functions so far
	bytes   int                  // size of paths
	numbers map[string]int       // of files in the function's list
	files   []string
	lines   []jitcode.Line
	origins []jitcode.Origin
	calls   []jitcode.Inline
	ranges  []jitcode.Range
	inliner inliner
}

// A tableFile is a file of a line table.
type tableFile struct {
	table int32
	file  uint32
}

// maxPaths bounds the paths that a Reader keeps, in bytes.
const maxPaths = 1 << 20

// NewReader returns a reader of the object's functions.
func (o *Object) NewReader() *Reader {
	return &Reader{o: o, paths: make(map[tableFile]string), numbers: make(map[string]int)}
}

// Describe sets the lines, inlined calls and unwind tables of fn to those of function i, an index
// in [Object.Functions]. fn has that function's address and size; its name and code are not used.
// The slices are valid until the next call. A problem is damage that cost a part of the
// description; see also [Object.Problems].
func (r *Reader) Describe(i int, fn *jitcode.Function) (problem error) {
	r.o.once.Do(r.o.load)
	x := &r.o.index
	r.files = nil
	if len(r.numbers) > maxReused {
		r.numbers = make(map[string]int)
	}
	clear(r.numbers)
	fn.Files, fn.Sources = nil, nil
	fn.Origins, fn.Inlines, fn.Ranges = nil, nil, nil
	fn.Unwind = jitcode.Unwind{}
	fn.Lines = r.functionLines(fn)
	if s := x.of[i].subprogram; s >= 0 {
		problem = r.inlines(s, fn)
	}
	fn.Files = r.files
	if x.of[i].frames {
		place := ehframe.Place{Order: r.o.order, AddrSize: r.o.addrSize, Code: fn.Addr, CodeSize: fn.Size, Machine: r.o.machine}
		sent, err := x.batch.Check(place, x.frames)
		if fn.Unwind.Sent = sent; problem == nil {
			problem = err
		}
	}
	return problem
}

// file returns the index of a file in the function's list, or -1 if it is unknown.
func (r *Reader) file(table int32, number int64) int {
	if table < 0 || number < 0 {
		return -1
	}
	key := tableFile{table, uint32(number)}
	name, ok := r.paths[key]
	if !ok {
		name = r.o.index.lines.tables[table].path(key.file)
		if len(name) > r.o.index.maxPath {
			name = ""
		}
		if r.bytes > maxPaths {
			clear(r.paths)
			r.bytes = 0
		}
		r.paths[key] = name
		r.bytes += len(name) + 64
	}
	if name == "" {
		return -1
	}
	n, ok := r.numbers[name]
	if !ok {
		n = len(r.files)
		r.numbers[name] = n
		r.files = append(r.files, name)
	}
	return n
}

// functionLines returns the lines of fn. At an offset with several rows, the last one counts: the
// others have no code.
func (r *Reader) functionLines(fn *jitcode.Function) []jitcode.Line {
	l := &r.o.index.lines
	low, high := fn.Addr, fn.Addr+fn.Size
	r.lines = r.lines[:0]
	end := low // of the code with lines so far
	i := sort.Search(len(l.sequences), func(i int) bool { return l.sequences[i].high > low })
	for ; i < len(l.sequences) && l.sequences[i].low < high; i++ {
		s := &l.sequences[i]
		from := max(s.low, low)
		if from > end && len(r.lines) > 0 {
			r.line(jitcode.Line{Offset: end - low})
		}
		rows := l.rows[s.first:s.last]
		first := sort.Search(len(rows), func(k int) bool { return rows[k].addr > from }) - 1
		for k := max(first, 0); k < len(rows) && rows[k].addr < min(high, s.high); k++ {
			if k+1 < len(rows) && rows[k+1].addr == rows[k].addr {
				continue
			}
			line := jitcode.Line{Offset: max(rows[k].addr, from) - low, Line: rows[k].line, Column: rows[k].column}
			if line.File = r.file(s.table, int64(rows[k].file)); line.File < 0 || line.Line == 0 {
				line = jitcode.Line{Offset: line.Offset}
			}
			r.line(line)
		}
		end = s.high
	}
	if end < high && len(r.lines) > 0 {
		r.line(jitcode.Line{Offset: end - low})
	}
	if len(r.lines) == 0 {
		return nil
	}
	return slices.Clip(r.lines)
}

// line adds a line that differs from the one before it. Code without a line needs none at the
// start.
func (r *Reader) line(l jitcode.Line) {
	if n := len(r.lines); n > 0 {
		last := &r.lines[n-1]
		if last.File == l.File && last.Line == l.Line && last.Column == l.Column {
			return
		}
		if last.Offset == l.Offset {
			*last = l
			return
		}
	} else if l.Line == 0 {
		return
	}
	r.lines = append(r.lines, l)
}
