package jitelf

import (
	"cmp"
	"fmt"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// Functions may share one long text, which the output repeats for each: a name in the string table, a directory,
// the name of an inlined function. The object has textPerByte times its size and minText bytes of them, in all.
// Compilers' output needs three for each byte. If there are more, each has its part.
const textPerByte, minText = 4, 4 << 10

// share returns how long each of number texts may be, in bytes, if all of them have total bytes: at most most.
func (o *Object) share(what string, total, number, most int) int {
	room := textPerByte*len(o.image) + minText
	if total <= room {
		return most
	}
	o.problem(fmt.Errorf("%s: %d %s have %d bytes in all, which are too many for the size of the object; long ones are cut or left out", FormatName, number, what, total))
	return min(most, room/number)
}

// boundNames cuts the names of the functions.
func (o *Object) boundNames() {
	total := 0
	for i := range o.functions {
		total += len(o.functions[i].Name)
	}
	most := o.share("names of functions", total, max(len(o.functions), 1), maxName)
	for i := range o.functions {
		o.functions[i].Name = jitcode.Beginning(o.functions[i].Name, most)
	}
}

// boundTexts bounds the texts of the descriptions of all functions.
func (o *Object) boundTexts() {
	x := &o.index
	t := &x.tree
	// Bytes of texts up to a call.
	names, paths := make([]int, len(t.calls)+1), make([]int, len(t.calls)+1)
	for i := range t.calls {
		c := &t.calls[i]
		names[i+1], paths[i+1] = names[i], paths[i]
		if s := t.subprogramAt(c.origin); s >= 0 {
			of := x.described(s)
			names[i+1] += min(len(of.name), maxName)
			paths[i+1] += x.lines.pathSize(of.table, of.file)
		}
		paths[i+1] += x.lines.pathSize(t.units[t.subprograms[c.subprogram].unit].table, c.file)
	}
	name, path, calls := 0, 0, 0
	for i := range x.of {
		if s := x.of[i].subprogram; s >= 0 {
			sub, of := &t.subprograms[s], x.described(s)
			name += min(len(of.name), maxName) + names[sub.last] - names[sub.first]
			path += x.lines.pathSize(of.table, of.file) + paths[sub.last] - paths[sub.first]
			calls += 1 + int(sub.last-sub.first)
		}
	}
	files, longest := len(x.of), 0
	for i := range x.lines.sequences {
		s := &x.lines.sequences[i]
		for k, r := range x.lines.rows[s.first:s.last] {
			if k == 0 || r.file != x.lines.rows[int(s.first)+k-1].file {
				size := x.lines.pathSize(s.table, int64(r.file))
				files, path, longest = files+1, path+size, max(longest, size)
			}
		}
	}
	x.maxName = o.share("names of inlined functions", name, max(calls, 1), maxName)
	x.maxPath = o.share("names of files", path+longest*len(x.of), files+2*calls, maxPath)
}

// maxChain bounds the entries that describe one function together. Compilers need three: of the
// code, of the definition and of the declaration.
const maxChain = 8

// A description is what entries say together about a function.
type description struct {
	name         string // the linkage name if there is one, as in addr2line -f
	table        int32  // of file
	file         int64  // -1 if it is unknown
	line, column uint32
}

// described returns the description of a subprogram. Each attribute comes from the first entry that has it.
func (x *index) described(s int32) description {
	t := &x.tree
	d := description{file: -1}
	linkage := ""
	for range maxChain {
		p := &t.subprograms[s]
		d.name, linkage = cmp.Or(d.name, p.name), cmp.Or(linkage, p.linkage)
		if table := t.units[p.unit].table; d.file < 0 && x.lines.pathSize(table, p.file) > 0 {
			d.table, d.file = table, p.file
		}
		if d.line == 0 {
			d.line, d.column = p.line, p.column
		}
		if s = t.subprogramAt(p.origin); s < 0 || p.origin == 0 {
			break
		}
	}
	d.name = cmp.Or(linkage, d.name)
	return d
}
