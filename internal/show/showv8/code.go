package showv8

import (
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/show"
)

// tierName returns the compiler of a tier, or "".
func tierName(tier []byte) string {
	for i, name := range []string{"bytecode", "Sparkplug", "Maglev", "TurboFan"} {
		if strings.IndexByte(string(tier), "~^+*"[i]) >= 0 {
			return name
		}
	}
	return ""
}

// A description has the lists of a code-source-info, and the functions in them.
type description struct {
	own     callee // the code itself
	size    uint64 // of the code, in bytes
	calls   []v8log.Call
	callees []callee
	err     error // of reading the lists
	bytes   []byte
}

// A callee is the function of an inlined call, or of the code itself.
type callee struct {
	sfi uint64
	function
}

// describe finds what a code-source-info is about: the code that was created last.
func (l *logViewer) describe(s *v8log.SourceInfo) {
	d := &l.shown
	*d = description{size: 1, own: callee{function: function{script: l.known.scripts[s.Script]}}, calls: d.calls[:0], callees: d.callees[:0], bytes: d.bytes}
	if l.latest.Address == s.Address {
		d.size = max(l.latest.Size, 1)
		if f, ok := l.known.functions[l.latest.SFI]; ok && l.latest.IsFunction {
			if f.script = d.own.script; f.script != nil {
				_, line, column, _ := v8log.CutPlace(f.name)
				f.script.Begins(s.Start, line, column)
			}
			l.known.functions[l.latest.SFI] = f
			d.own = callee{l.latest.SFI, f}
		}
	}
	if l.Opts.Filter.MatchesType("code-source-info") {
		d.err = l.readCalls(s)
	}
}

func (l *logViewer) readCalls(s *v8log.SourceInfo) (err error) {
	d := &l.shown
	if d.bytes, err = v8log.ReadSpan(l.File, s.Functions, v8log.MaxList, d.bytes); err != nil {
		return err
	}
	for addr, err := range v8log.Functions(d.bytes, s.Functions.Off) {
		if err != nil {
			return err
		}
		d.callees = append(d.callees, callee{addr, l.known.functions[addr]})
	}
	if d.bytes, err = v8log.ReadSpan(l.File, s.Inlining, v8log.MaxList, d.bytes); err != nil {
		return err
	}
	for call, err := range v8log.Calls(d.bytes, s.Inlining.Off) {
		if err != nil {
			return err
		}
		d.calls = append(d.calls, call)
	}
	return nil
}

// source writes the function of code, its inlined calls and lines. Inlined calls count for filters,
// too.
func (l *logViewer) source(o *show.Form, s *v8log.SourceInfo) {
	d := &l.shown
	show.Mention(o, s.Address, d.size)
	d.own.showName(o)
	if show.Matching(o) {
		for i := range d.callees {
			show.Mention(o, d.callees[i].sfi, 1)
			d.callees[i].showName(o)
		}
		return
	}
	o.List("inline_calls")
	for i, call := range d.calls {
		o.Row()
		o.Num("index", uint64(i))
		if call.Parent != v8log.None {
			o.Signed("caller", int64(call.Parent))
		}
		c := d.inlined(int32(i))
		if c == nil {
			o.Word("function", fmt.Sprintf("#%d", call.Function))
			continue
		}
		o.Hex("sfi", c.sfi)
		c.showName(o)
		if caller := d.inlined(call.Parent); caller != nil {
			line, column := caller.script.position(call.ScriptOffset)
			o.CalledAt(caller.script.file(), line, column)
		}
	}
	o.EndList()
	if err := l.lines(o, s); d.err == nil {
		d.err = err
	}
}

// inlined returns the function of the inlined call i, or the code's own for none. It returns nil for
// indexes that are damaged.
func (d *description) inlined(i int32) *callee {
	switch {
	case i == v8log.None:
		return &d.own
	case i < 0 || int(i) >= len(d.calls):
		return nil
	}
	switch f := d.calls[i].Function; {
	case f == v8log.None: // recursion
		return &d.own
	case f < 0 || int(f) >= len(d.callees):
		return nil
	default:
		return &d.callees[f]
	}
}

func (l *logViewer) lines(o *show.Form, s *v8log.SourceInfo) (err error) {
	d := &l.shown
	o.List("line_table")
	defer o.EndList()
	if d.bytes, err = v8log.ReadSpan(l.File, s.Positions, v8log.MaxList, d.bytes); err != nil {
		return err
	}
	for p, err := range v8log.Positions(d.bytes, s.Positions.Off) {
		if err != nil {
			return err
		}
		o.Row()
		o.At("code_offset", uint64(p.CodeOffset))
		if c := d.inlined(p.Inlining); c != nil && c.script != nil && p.ScriptOffset != v8log.None {
			line, column := c.script.position(p.ScriptOffset)
			o.Place(c.script.file(), line, column)
		}
		o.Signed("script_offset", int64(p.ScriptOffset))
		if p.Inlining != v8log.None {
			o.Signed("inline", int64(p.Inlining))
		}
	}
	return nil
}
