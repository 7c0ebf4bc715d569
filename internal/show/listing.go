package show

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// A listing is code with what is known about it.
type listing struct {
	machine uint32
	order   binary.ByteOrder
	thumb   bool
	addr    uint64 // of the code
	code    []byte
	lines   []listedLine // with growing offsets
	calls   []inlinedCall
	marks   []codeMark // with growing offsets
	text    func(file string, line uint64) ([]byte, bool)
}

// A listedLine says where code from an offset on comes from.
type listedLine struct {
	offset       uint64
	file         string
	line, column uint64
}

// An inlinedCall is about a run of the code; calls deeper inside have a larger depth.
type inlinedCall struct {
	first, end   uint64 // offsets
	depth        int
	id           int // which call: it may have several runs
	function     string
	file         string // of the call
	line, column uint64
}

// A codeMark says what begins or ends in front of an instruction.
type codeMark struct {
	offset uint64
	text   string
}

// codeOrder is the byte order of a machine's code: ARM's is little endian always, as
// JIT compilers meet it.
func codeOrder(machine uint32, order binary.ByteOrder) binary.ByteOrder {
	if m := elf.Machine(machine); m == elf.EM_ARM || m == elf.EM_AARCH64 {
		return binary.LittleEndian
	}
	return order
}

// show shows the instructions as rows, in text with rows in front of them where the
// line or the inlined calls change.
func (l *listing) show(o form, order binary.ByteOrder) {
	decode := disassemblerFor(l.machine, order, l.thumb)
	data := codeOrder(l.machine, order)
	o.list("code")
	defer o.endList()
	slices.SortStableFunc(l.calls, func(a, b inlinedCall) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.depth, b.depth))
	})
	place := placeWriter{out: o, text: l.text}
	var stack []inlinedCall
	nextCall, nextLine, nextMark := 0, 0, 0
	for off := uint64(0); off < uint64(len(l.code)) && o.lost() == nil; {
		stack = slices.DeleteFunc(stack, func(c inlinedCall) bool { return c.end <= off })
		for ; nextCall < len(l.calls) && l.calls[nextCall].first <= off; nextCall++ {
			if l.calls[nextCall].end > off && len(stack) < maxTreeDepth {
				stack = append(stack, l.calls[nextCall])
			}
		}
		slices.SortStableFunc(stack, func(a, b inlinedCall) int { return cmp.Compare(a.depth, b.depth) })
		for nextLine < len(l.lines) && l.lines[nextLine].offset <= off {
			nextLine++
		}
		var line *listedLine
		if nextLine > 0 {
			line = &l.lines[nextLine-1]
		}
		rest := l.code[off:]
		size, text := min(4, len(rest)), ""
		if decode != nil {
			size, text = decode(rest, l.addr+off)
		}
		if text == "" {
			text = dataText(rest[:size], data)
		}
		marks := l.marks[nextMark:]
		for n := range marks {
			if marks[n].offset > off {
				marks = marks[:n]
				break
			}
		}
		nextMark += len(marks)
		o.row()
		place.marks(marks)
		place.at(line, stack)
		o.code(l.addr+off, rest[:size], text)
		place.done(line, stack)
		place.marked(marks)
		off += uint64(size)
	}
}

// A placeWriter says where instructions come from: in text where that changes, in JSON
// with each.
type placeWriter struct {
	out   form
	text  func(file string, line uint64) ([]byte, bool)
	last  listedLine
	some  bool
	stack []int
}

// at stands in front of an instruction.
func (p *placeWriter) at(line *listedLine, stack []inlinedCall) {
	t, ok := p.out.(*textForm)
	if !ok {
		return
	}
	if !slices.EqualFunc(stack, p.stack, func(c inlinedCall, id int) bool { return c.id == id }) {
		p.stack = p.stack[:0]
		t.comment("in")
		for i, c := range stack {
			p.stack = append(p.stack, c.id)
			if i > 0 {
				t.raw(" >")
			}
			t.label("", []byte(c.function))
			t.calledAt([]byte(c.file), c.line, c.column)
		}
		if len(stack) == 0 {
			t.raw(" the function itself")
		}
		t.row()
	}
	if line == nil || p.some && line.file == p.last.file && line.line == p.last.line && line.column == p.last.column {
		return
	}
	p.last, p.some = *line, true
	if line.line == 0 {
		t.comment("no line")
		t.row()
		return
	}
	t.comment("")
	t.place([]byte(line.file), line.line, line.column)
	if text, ok := p.text(line.file, line.line); ok {
		t.source(text)
	}
	t.row()
}

// marks stand in front of what at says, in text.
func (p *placeWriter) marks(list []codeMark) {
	if t, ok := p.out.(*textForm); ok {
		for _, m := range list {
			t.comment("")
			t.clean([]byte(m.text))
			t.row()
		}
	}
}

// marked stands behind an instruction, in JSON.
func (p *placeWriter) marked(list []codeMark) {
	if _, is := p.out.(*textForm); is || len(list) == 0 {
		return
	}
	p.out.array("marks")
	for _, m := range list {
		p.out.elemStr([]byte(m.text))
	}
	p.out.endArray()
}

// done stands behind an instruction.
func (p *placeWriter) done(line *listedLine, stack []inlinedCall) {
	if _, is := p.out.(*textForm); is {
		return
	}
	if line != nil && line.line != 0 {
		p.out.place([]byte(line.file), line.line, line.column)
		if changed := !p.some || line.file != p.last.file || line.line != p.last.line; changed {
			if text, ok := p.text(line.file, line.line); ok {
				p.out.source(text)
			}
		}
		p.last, p.some = *line, true
	}
	if len(stack) == 0 {
		return
	}
	p.out.list("inlined")
	for _, c := range stack {
		p.out.row()
		p.out.label("function", []byte(c.function))
		p.out.calledAt([]byte(c.file), c.line, c.column)
	}
	p.out.endList()
}

// fill adds what is known of a function.
func (l *listing) fill(fn *jitcode.Function, texts *sourceTexts) {
	l.addr, l.code, l.thumb = fn.Addr, fn.Code, fn.Thumb
	for _, line := range fn.Lines {
		l.lines = append(l.lines, listedLine{line.Offset, fn.Files[line.File], uint64(line.Line), uint64(line.Column)})
	}
	depth := make([]int, len(fn.Inlines))
	for i, call := range fn.Inlines {
		callee := &fn.Origins[call.Origin]
		c := inlinedCall{id: i, function: string(callee.Name), line: uint64(call.Line), column: uint64(call.Column)}
		caller := 0
		if call.Parent >= 0 {
			caller, depth[i] = fn.Inlines[call.Parent].Origin, depth[call.Parent]+1
		}
		if file := fn.Origins[caller].File; file >= 0 {
			c.file = fn.Files[file]
		}
		c.depth = depth[i]
		for _, r := range fn.Ranges[call.First:call.Last] {
			c.first, c.end = r.Offset, r.Offset+r.Size
			l.calls = append(l.calls, c)
		}
	}
	brought := make(map[string]*sourceText)
	for i, text := range fn.Texts {
		if text != "" {
			brought[fn.Files[i]] = texts.brought(fn.Files[i], text)
		}
	}
	l.text = func(file string, line uint64) ([]byte, bool) {
		if s := brought[file]; s != nil {
			return s.line(line)
		}
		return texts.of(file).line(line)
	}
}

// noDisassembler says why there are only numbers, or nothing.
func noDisassembler(machine uint32, order binary.ByteOrder, thumb bool) string {
	switch {
	case disassemblerFor(machine, order, thumb) != nil:
		return ""
	case thumb:
		return "the T32 instruction set of ARM is not known here"
	}
	return fmt.Sprintf("the instructions of machine %d %s are not known here", machine, machineName(machine))
}
