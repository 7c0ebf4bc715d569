package showgdbjit

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/format/gdbjit"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit/registered"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/listing"
)

// Format is the format of core dumps. Other ELF files are shown by other programs.
var Format = show.Format{
	Name:   "a core dump",
	Begins: func(head []byte) bool { return bytes.HasPrefix(head, []byte(elf.ELFMAG)) },
	Show:   showCore,
	Types:  []string{"descriptor", "entry", "function"},
}

func showCore(v *show.Viewer) error {
	if err := v.NeedsFile("ELF"); err != nil {
		return err
	}
	c, err := elfcore.Open(v.File)
	if errors.Is(err, elfcore.ErrNotCore) {
		return v.ShownBy("an ELF file", "readelf -aW FILE shows it, and llvm-dwarfdump FILE its lines and inlined calls")
	} else if err != nil {
		return err
	}
	o, filter := v.Out, &v.Opts.Filter
	v.Begun(elfcore.FormatName)
	o.Word("class", strings.ToLower(strings.TrimPrefix(c.Class.String(), "ELFCLASS"))+"-bit")
	o.Word("order", show.OrderName(c.Order))
	o.Named("machine", uint64(c.Machine), show.MachineName(uint32(c.Machine)))
	if p := c.Process(); p != nil {
		o.Num("pid", uint64(p.PID))
		o.Num("parent", uint64(p.PPID))
		o.Str("command", []byte(p.Command))
		o.Str("args", []byte(p.Args))
	}
	o.End()
	for _, err := range c.Problems {
		v.Problem(-1, err)
	}
	if !filter.Time.Set && filter.MatchesPID(uint32(c.PID())) { // nothing in a core dump has a time
		registeredObjects(v, c)
	}
	return nil
}

// registeredObjects shows what the process has registered, which is nothing without a descriptor.
func registeredObjects(v *show.Viewer, c *elfcore.Core) {
	s := &shower{v, &registered.Process{Memory: c, Class: c.Class, Order: c.Order, Machine: c.Machine, Open: open}}
	r, err := registered.Read(s.process, registered.Find(s.process))
	if err != nil {
		v.Problem(-1, err)
		return
	}
	for i, list := range r.Lists {
		s.list(list, r.Places[i])
		for k := range r.Objects {
			if o := &r.Objects[k]; o.Place == r.Places[i] {
				s.object(o)
			}
		}
	}
	for _, err := range r.Problems {
		v.Problem(-1, err)
	}
}

// open opens a mapped file, or returns nil.
func open(name string) registered.File {
	f, err := sys.Open(name)
	if err != nil {
		return nil
	}
	return f
}

// A shower shows the objects of a process.
type shower struct {
	*show.Viewer
	process *registered.Process
}

// list shows a descriptor and its entries.
func (s *shower) list(list *gdbjit.List, place registered.Place) {
	o, filter := s.Out, &s.Opts.Filter
	if filter.MatchesType("descriptor") && len(filter.Names) == 0 && filter.Address.Meets(list.Addr, 1) && !s.Lost() {
		o.Begin(show.Item{Offset: -1, Type: "descriptor", Size: -1})
		o.Hex("addr", list.Addr)
		o.Str("filename", []byte(place.File))
		o.Word("found", place.How.String())
		o.Num("version", uint64(list.Version))
		o.Named("action_flag", uint64(list.Action), [...]string{"none", "register", "unregister"}[list.Action])
		o.Hex("relevant_entry", list.Relevant)
		o.Hex("first_entry", list.First)
		o.Num("entries", uint64(len(list.Entries)))
		o.End()
	}
	if !filter.MatchesType("entry") || len(filter.Names) > 0 {
		return
	}
	for i := range list.Entries {
		e := &list.Entries[i]
		if !filter.Address.Meets(e.Addr, 1) && !filter.Address.Meets(e.Symfile, e.Size) || s.Lost() {
			continue
		}
		o.Begin(show.Item{Offset: -1, Type: "entry", Size: -1})
		o.Hex("addr", e.Addr)
		o.Hex("next_entry", e.Next)
		o.Hex("prev_entry", e.Prev)
		o.Hex("symfile_addr", e.Symfile)
		o.Num("symfile_size", e.Size)
		o.End()
	}
}

// object shows the functions of an object.
func (s *shower) object(x *registered.Object) {
	filter := &s.Opts.Filter
	if !filter.MatchesType("function") {
		return
	}
	opened, err := x.Open()
	if err != nil {
		s.Problem(-1, fmt.Errorf("object at %#x: %w", x.Symfile, err))
		return
	}
	for _, err := range opened.Problems() {
		s.Problem(-1, fmt.Errorf("object at %#x: %w", x.Symfile, err))
	}
	reader := opened.NewReader()
	for i := range x.Functions {
		f := &x.Functions[i]
		if !filter.MatchesName(f.Name) || !filter.Address.Meets(f.Addr, f.Size) || s.Lost() {
			continue
		}
		fn := jitcode.Function{Name: f.Name, Addr: f.Addr, Size: f.Size, Thumb: f.Thumb}
		problem := reader.Describe(i, &fn)
		s.function(x, &fn)
		if problem != nil {
			s.Problem(-1, fmt.Errorf("object at %#x: %w", x.Symfile, problem))
		}
	}
}

// function shows a function with its lines, inlined calls and code.
func (s *shower) function(x *registered.Object, fn *jitcode.Function) {
	o := s.Out
	o.Begin(show.Item{Offset: -1, Type: "function", Size: -1})
	o.Hex("addr", fn.Addr)
	o.Num("symbol_size", fn.Size)
	o.Str("name", fn.Name)
	o.Hex("symfile_addr", x.Symfile)
	o.Num("unwind_tables", uint64(len(fn.Unwind.Sent.FDEs)))
	if !s.process.IsExecutable(fn.Addr, fn.Size) {
		o.Word("memory", "not executable")
	}
	lines, calls := linesOf(fn), callsOf(fn)
	if s.Opts.Disassemble {
		s.listing(x, fn, lines, calls)
	} else {
		listing.ShowCalls(s.Out, calls)
		o.List("line_table")
		for _, l := range lines {
			o.Row()
			o.At("addr", fn.Addr+l.Offset)
			o.Place([]byte(l.File), l.Line, l.Column)
		}
		o.EndList()
	}
	o.End()
}

// maxCode bounds the code of a function that is shown, in bytes.
const maxCode = 64 << 20

// listing shows the instructions of a function.
func (s *shower) listing(x *registered.Object, fn *jitcode.Function, lines []listing.Line, calls []listing.Call) {
	machine := uint32(s.process.Machine)
	code := make([]byte, min(fn.Size, maxCode))
	if err := x.ReadCode(s.process, fn.Addr, code); err != nil {
		s.Out.Word("code", "not known")
		return
	}
	if why := listing.Unsupported(machine, s.process.Order, fn.Thumb); why != "" {
		s.Out.Word("not_disassembled", why)
	}
	l := listing.Code{Machine: machine, Order: s.process.Order, Thumb: fn.Thumb, Addr: fn.Addr, Code: code, Lines: lines, Calls: calls,
		Text: func(file string, line uint64) ([]byte, bool) { return s.Texts.Of(file).Line(line) }}
	l.Show(s.Out)
}

// linesOf returns the lines of a function.
func linesOf(fn *jitcode.Function) []listing.Line {
	lines := make([]listing.Line, len(fn.Lines))
	for i, l := range fn.Lines {
		lines[i] = listing.Line{Offset: l.Offset, File: fileOf(fn, l.File), Line: uint64(l.Line), Column: uint64(l.Column)}
	}
	return lines
}

// callsOf returns the inlined calls of a function, one for each range.
func callsOf(fn *jitcode.Function) (calls []listing.Call) {
	depth := make([]int, len(fn.Inlines))
	for i := range fn.Inlines {
		c := &fn.Inlines[i]
		caller := 0 // the function itself
		if c.Parent >= 0 {
			depth[i] = depth[c.Parent] + 1
			caller = fn.Inlines[c.Parent].Origin
		}
		file := ""
		switch {
		case c.Elsewhere:
			file = fileOf(fn, c.File)
		case caller < len(fn.Origins):
			file = fileOf(fn, fn.Origins[caller].File)
		}
		for _, r := range fn.Ranges[c.First:c.Last] {
			calls = append(calls, listing.Call{First: r.Offset, End: r.Offset + r.Size, Depth: depth[i], ID: i, Function: string(fn.Origins[c.Origin].Name), File: file, Line: uint64(c.Line), Column: uint64(c.Column)})
		}
	}
	return calls
}

// fileOf returns the name of a file, or "".
func fileOf(fn *jitcode.Function, i int) string {
	if i < 0 || i >= len(fn.Files) {
		return ""
	}
	return fn.Files[i]
}
