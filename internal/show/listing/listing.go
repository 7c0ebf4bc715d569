package listing

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A Code is code with what is known about it, to be shown.
type Code struct {
	Machine uint32
	Order   binary.ByteOrder // of the machine's data
	Addr    uint64           // of the code
	Code    []byte
	Lines   []Line // with growing offsets
	Calls   []Call
	Text    func(file []byte, line uint64) ([]byte, bool) // of a line; false if it is unknown
}

// A Line says where code from an offset on comes from. Lines share the names of files.
type Line struct {
	Offset       uint64
	File         []byte
	Line, Column uint64
}

// A Call is about a run of the code; calls deeper inside have a larger depth.
type Call struct {
	First, End   uint64 // offsets
	Depth        int
	ID           int // which call: it may have several runs
	Function     []byte
	File         []byte // of the call
	Line, Column uint64
}

// MaxDepth bounds how deep inlined calls are nested.
const MaxDepth = 1024

// codeOrder is the byte order of a machine's code: ARM's is little endian always, as
// JIT compilers meet it.
func codeOrder(machine uint32, order binary.ByteOrder) binary.ByteOrder {
	if m := elf.Machine(machine); m == elf.EM_ARM || m == elf.EM_AARCH64 {
		return binary.LittleEndian
	}
	return order
}

// Show shows the instructions as rows, in text with rows in front of them where the
// line or the inlined calls change.
func (l *Code) Show(o *show.Form) {
	decode := disassemblerFor(l.Machine)
	data := codeOrder(l.Machine, l.Order)
	o.List("code")
	defer o.EndList()
	sorting.Stable(l.Calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Depth, b.Depth))
	})
	place := placeWriter{out: o, text: l.Text}
	var stack []Call
	nextCall, nextLine := 0, 0
	for off := uint64(0); off < uint64(len(l.Code)) && o.Lost() == nil; {
		stack = slices.DeleteFunc(stack, func(c Call) bool { return c.End <= off })
		for ; nextCall < len(l.Calls) && l.Calls[nextCall].First <= off; nextCall++ {
			if l.Calls[nextCall].End > off && len(stack) < MaxDepth {
				stack = append(stack, l.Calls[nextCall])
			}
		}
		sorting.Stable(stack, func(a, b Call) int { return cmp.Compare(a.Depth, b.Depth) })
		for nextLine < len(l.Lines) && l.Lines[nextLine].Offset <= off {
			nextLine++
		}
		var line *Line
		if nextLine > 0 {
			line = &l.Lines[nextLine-1]
		}
		rest := l.Code[off:]
		size, text := min(4, len(rest)), ""
		if decode != nil {
			size, text = decode(rest, l.Addr+off)
		}
		if text == "" {
			text = dataText(rest[:size], data)
		}
		o.Row()
		place.at(line, stack)
		o.Code(l.Addr+off, rest[:size], text)
		place.done(line, stack)
		off += uint64(size)
	}
}

// A placeWriter says where instructions come from: in text where that changes, in JSON
// with each.
type placeWriter struct {
	out   *show.Form
	text  func(file []byte, line uint64) ([]byte, bool)
	last  Line
	some  bool
	stack []int
}

func (p *placeWriter) at(line *Line, stack []Call) {
	t := p.out
	if !t.IsText() {
		return
	}
	if !slices.EqualFunc(stack, p.stack, func(c Call, id int) bool { return c.ID == id }) {
		p.stack = p.stack[:0]
		t.Comment("in")
		for i, c := range stack {
			p.stack = append(p.stack, c.ID)
			if i > 0 {
				t.Raw(" >")
			}
			t.Label("", c.Function)
			t.CalledAt(c.File, c.Line, c.Column)
		}
		if len(stack) == 0 {
			t.Raw(" the function itself")
		}
		t.Row()
	}
	if line == nil || p.some && bytes.Equal(line.File, p.last.File) && line.Line == p.last.Line && line.Column == p.last.Column {
		return
	}
	p.last, p.some = *line, true
	if line.Line == 0 {
		t.Comment("no line")
		t.Row()
		return
	}
	t.Comment("")
	t.Place(line.File, line.Line, line.Column)
	if text, ok := p.text(line.File, line.Line); ok {
		t.Source(text)
	}
	t.Row()
}

func (p *placeWriter) done(line *Line, stack []Call) {
	if p.out.IsText() {
		return
	}
	if line != nil && line.Line != 0 {
		p.out.Place(line.File, line.Line, line.Column)
		if changed := !p.some || !bytes.Equal(line.File, p.last.File) || line.Line != p.last.Line; changed {
			if text, ok := p.text(line.File, line.Line); ok {
				p.out.Source(text)
			}
		}
		p.last, p.some = *line, true
	}
	if len(stack) == 0 {
		return
	}
	p.out.List("inlined")
	for _, c := range stack {
		p.out.Row()
		p.out.Label("function", c.Function)
		p.out.CalledAt(c.File, c.Line, c.Column)
	}
	p.out.EndList()
}

// Fill sets address, code, lines, inlined calls and texts to those of a function. The text of lines
// that the function does not bring along comes from texts.
func (l *Code) Fill(fn *jitcode.Function, texts *show.SourceTexts) {
	l.Addr, l.Code = fn.Addr, fn.Code
	files := make([][]byte, len(fn.Files))
	for i, file := range fn.Files {
		files[i] = []byte(file)
	}
	fileOf := func(i int) []byte {
		if i < 0 || i >= len(files) {
			return nil
		}
		return files[i]
	}
	for _, line := range fn.Lines {
		l.Lines = append(l.Lines, Line{line.Offset, fileOf(line.File), uint64(line.Line), uint64(line.Column)})
	}
	depth := make([]int, len(fn.Inlines))
	for i, call := range fn.Inlines {
		c := Call{ID: i, Function: fn.Origins[call.Origin].Name, Line: uint64(call.Line), Column: uint64(call.Column)}
		caller := 0
		if call.Parent >= 0 {
			caller, depth[i] = fn.Inlines[call.Parent].Origin, depth[call.Parent]+1
		}
		if call.Elsewhere {
			c.File = fileOf(call.File)
		} else if caller < len(fn.Origins) {
			c.File = fileOf(fn.Origins[caller].File)
		}
		c.Depth = depth[i]
		for _, r := range fn.Ranges[call.First:call.Last] {
			c.First, c.End = r.Offset, r.Offset+r.Size
			l.Calls = append(l.Calls, c)
		}
	}
	brought := make(map[string]show.SourceText)
	for i, text := range fn.Sources {
		if text != "" {
			brought[fn.Files[i]] = texts.Brought(text)
		}
	}
	l.Text = func(file []byte, line uint64) ([]byte, bool) {
		if len(file) > maxPath { // and each line would hash it
			return nil, false
		}
		if s := brought[string(file)]; s != nil {
			return s.Line(line)
		}
		return texts.Of(string(file)).Line(line)
	}
}

// maxPath is the length of the kernel's longest path, in bytes.
const maxPath = 4096

// Unsupported says why there are only numbers, or nothing.
func Unsupported(machine uint32) string {
	if disassemblerFor(machine) != nil {
		return ""
	}
	return fmt.Sprintf("instructions of machine %d %s are shown by objdump -d, from the objects that inject makes", machine, show.MachineName(machine))
}

// ShowCalls shows inlined calls as a list, each below the one that it is in. The runs of a call follow
// each other.
func ShowCalls(o *show.Form, calls []Call) {
	o.List("inline_calls")
	for i := 0; i < len(calls); {
		c := &calls[i]
		o.Row()
		o.Depth(uint64(c.Depth))
		o.Label("function", c.Function)
		o.CalledAt(c.File, c.Line, c.Column)
		o.Array("ranges")
		for id := c.ID; i < len(calls) && calls[i].ID == id; i++ {
			o.ElemRange(calls[i].First, calls[i].End)
		}
		o.EndArray()
	}
	o.EndList()
}
