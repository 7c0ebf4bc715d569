package showv8

import (
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/show"
)

// tierNames are the names of compilers by their sign in the tier.
var tierNames = []struct{ sign, name string }{{"~", "bytecode"}, {"^", "Sparkplug"}, {"+", "Maglev"}, {"*", "TurboFan"}}

// tierName returns the compiler of a tier, or "".
func tierName(tier []byte) string {
	for _, t := range tierNames {
		if strings.Contains(string(tier), t.sign) {
			return t.name
		}
	}
	return ""
}

// creation shows a code-creation.
func (l *logViewer) creation(c *v8log.CodeCreation, end int64) {
	tier := tierName(c.Tier)
	l.total.Codes++
	switch tier {
	case "Sparkplug":
		l.total.Baseline++
	case "Maglev":
		l.total.Maglev++
	case "TurboFan":
		l.total.Turbofan++
	}
	l.latest = created{addr: c.Address, size: c.Size, sfi: c.SFI}
	if c.IsFunction {
		f, ok := l.known.functions[c.SFI]
		if !ok {
			f.script = noScript
		}
		f.name, f.size = c.NameOffset, int32(len(c.Name))
		l.known.addFunction(c.SFI, f)
		l.latest.name = string(c.Name)
	}
	l.Record(show.Item{Offset: c.Offset, Type: "code-creation", Size: end - c.Offset, Time: c.Time * 1000, Timed: true}, c, nil)
}

// lists are the lists of a code-source-info. They are used again.
type lists struct {
	bytes     []byte
	calls     []v8log.Call
	functions []uint64
	callees   []callee

	own  callee // the code itself
	size uint64 // of the code, in bytes
	err  error  // of reading the lists
}

// A callee is the function of an inlined call, or of the code itself.
type callee struct {
	sfi    uint64
	name   name
	script *script
	start  int32
}

// source shows a code-source-info: the place of a function, lines of code, and inlined calls.
func (l *logViewer) source(s *v8log.SourceInfo, end int64) {
	own := callee{script: l.known.scripts[s.Script], start: s.Start}
	size := uint64(1)
	if l.latest.addr == s.Address {
		size, own.sfi = max(l.latest.size, 1), l.latest.sfi
		own.name = splitName([]byte(l.latest.name), own.script)
		if f, ok := l.known.functions[own.sfi]; ok {
			f.script, f.start = s.Script, s.Start
			l.known.functions[own.sfi] = f
		}
		if own.script != nil {
			own.script.place(s.Start, &own.name)
		}
	}
	if s.Inlining.Size > 0 {
		l.total.Inlining++
	}
	l.lists.own, l.lists.size = own, size
	if !l.Opts.Filter.MatchesType("code-source-info") {
		return
	}
	l.lists.err = l.readCalls(s)
	if l.item(s.Offset, end, "code-source-info", s) && l.lists.err != nil {
		l.Problem(show.OffsetOf(l.lists.err, s.Offset), fmt.Errorf("%w; the rest of the list is left out", l.lists.err))
	}
}

// sourceOf writes the function of code, its inlined calls and lines. Inlined calls count for filters,
// too.
func (l *logViewer) sourceOf(o show.Form, s *v8log.SourceInfo) {
	t := &l.lists
	show.Mention(o, s.Address, t.size)
	if show.Matching(o) {
		for _, c := range append(t.callees, t.own) {
			show.Mention(o, c.sfi, 1)
			c.name.show(o)
		}
		return
	}
	t.own.name.show(o)
	l.showCalls(&t.own)
	if err := l.showLines(s, &t.own); t.err == nil {
		t.err = err
	}
}

// readCalls reads inlined calls and their functions.
func (l *logViewer) readCalls(s *v8log.SourceInfo) (err error) {
	t := &l.lists
	t.calls, t.functions, t.callees = t.calls[:0], t.functions[:0], t.callees[:0]
	if t.bytes, err = v8log.ReadSpan(l.File, s.Functions, v8log.MaxList, t.bytes); err != nil {
		return err
	}
	for addr, e := range v8log.Functions(t.bytes, s.Functions.Off) {
		if e != nil {
			return e
		}
		t.functions = append(t.functions, addr)
		c := callee{sfi: addr}
		if f, ok := l.known.functions[addr]; ok {
			c.name, c.script, c.start = l.nameOf(f), l.known.scripts[f.script], f.start
		}
		t.callees = append(t.callees, c)
	}
	if t.bytes, err = v8log.ReadSpan(l.File, s.Inlining, v8log.MaxList, t.bytes); err != nil {
		return err
	}
	for call, e := range v8log.Calls(t.bytes, s.Inlining.Off) {
		if e != nil {
			return e
		}
		t.calls = append(t.calls, call)
	}
	return nil
}

// calleeOf returns the function of the inlined call i, or own for none. It returns nil for indexes that
// are damaged.
func (l *logViewer) calleeOf(i int32, own *callee) *callee {
	t := &l.lists
	switch {
	case i == v8log.None:
		return own
	case i < 0 || int(i) >= len(t.calls):
		return nil
	}
	switch f := t.calls[i].Function; {
	case f == v8log.None: // recursion
		return own
	case f < 0 || int(f) >= len(t.callees):
		return nil
	default:
		return &t.callees[f]
	}
}

// url returns the name of the callee's script for a place.
func (c *callee) url() []byte {
	if c.script == nil {
		return nil
	}
	return []byte(c.script.url)
}

// showCalls shows the inlined calls in the order of the log.
func (l *logViewer) showCalls(own *callee) {
	o := l.Out
	o.List("inline_calls")
	for i, call := range l.lists.calls {
		o.Row()
		o.Num("index", uint64(i))
		if call.Parent != v8log.None {
			o.Signed("caller", int64(call.Parent))
		}
		c := l.calleeOf(int32(i), own)
		if c == nil {
			o.Word("function", fmt.Sprintf("#%d", call.Function))
			continue
		}
		o.Hex("sfi", c.sfi)
		c.name.show(o)
		if caller := l.calleeOf(call.Parent, own); caller != nil {
			line, column := caller.script.position(call.ScriptOffset)
			o.CalledAt(caller.url(), line, column)
		}
	}
	o.EndList()
}

// showLines shows the positions of code.
func (l *logViewer) showLines(s *v8log.SourceInfo, own *callee) (err error) {
	o, t := l.Out, &l.lists
	o.List("line_table")
	defer o.EndList()
	if t.bytes, err = v8log.ReadSpan(l.File, s.Positions, v8log.MaxList, t.bytes); err != nil {
		return err
	}
	for p, e := range v8log.Positions(t.bytes, s.Positions.Off) {
		if e != nil {
			return e
		}
		o.Row()
		o.At("code_offset", uint64(p.CodeOffset))
		c := l.calleeOf(p.Inlining, own)
		if c != nil && c.script != nil && p.ScriptOffset != v8log.None {
			line, column := c.script.position(p.ScriptOffset)
			o.Place(c.url(), line, column)
		}
		o.Signed("script_offset", int64(p.ScriptOffset))
		if p.Inlining != v8log.None {
			o.Signed("inline", int64(p.Inlining))
			if c != nil && c.name.known {
				o.Label("function", []byte(c.name.function))
			}
		}
	}
	return nil
}
