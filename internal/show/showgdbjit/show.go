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
	c, err := elfcore.Open(v.File)
	if errors.Is(err, elfcore.ErrNotCore) {
		return v.ShownBy("an ELF file", "readelf -aW FILE shows it, and llvm-dwarfdump FILE its lines and inlined calls")
	} else if err != nil {
		return err
	}
	o := v.Out
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
	if v.OfProcess(uint32(c.PID())) {
		registeredObjects(v, c)
	}
	return nil
}

// registeredObjects shows what the process has registered, which is nothing without a descriptor.
func registeredObjects(v *show.Viewer, c *elfcore.Core) {
	s := &shower{Viewer: v, process: &registered.Process{Memory: c, Class: c.Class, Order: c.Order, Machine: c.Machine, Open: open}}
	v.Add = s.add
	r, err := registered.Read(s.process, registered.Find(s.process))
	if err != nil {
		v.Problem(-1, err)
		return
	}
	for i, list := range r.Lists {
		place := r.Places[i]
		s.item("descriptor", &descriptor{list.Descriptor, place.File, place.How.String(), len(list.Entries)})
		for k := range list.Entries {
			s.item("entry", &list.Entries[k])
		}
		for k := range r.Objects {
			if o := &r.Objects[k]; o.Place == place {
				s.object(o)
			}
		}
	}
	for _, err := range r.Problems {
		v.Problem(-1, err)
	}
}

// A descriptor is printed with its place in the process.
type descriptor struct {
	gdbjit.Descriptor
	File    string `show:"filename"`
	Found   string `show:"found"`
	Entries int    `show:"entries"`
}

// A function of an object is printed with what its object says of it.
type function struct {
	Addr    uint64 `show:"addr,addr:Size"`
	Size    uint64 `show:"symbol_size"`
	Name    []byte `show:"name,name"`
	Symfile uint64 `show:"symfile_addr,hex"`

	object *registered.Object
	reader interface {
		Describe(i int, fn *jitcode.Function) error
	}
	index   int
	problem error
	thumb   bool
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

// item shows a record in the memory of the process.
func (s *shower) item(kind string, rec any) bool {
	return !s.Lost() && s.Record(show.Item{Offset: -1, Type: kind, Size: -1}, rec, nil)
}

func (s *shower) object(x *registered.Object) {
	if !s.Opts.Filter.MatchesType("function") {
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
		rec := &function{Addr: f.Addr, Size: f.Size, Name: f.Name, Symfile: x.Symfile, object: x, reader: reader, index: i, thumb: f.Thumb}
		if s.item("function", rec) && rec.problem != nil {
			s.Problem(-1, fmt.Errorf("object at %#x: %w", x.Symfile, rec.problem))
		}
	}
}

// maxCode bounds the code of a function that is shown, in bytes.
const maxCode = 64 << 20

// add writes the lines, inlined calls and code of a function.
func (s *shower) add(o *show.Form, rec any) {
	f, ok := rec.(*function)
	if !ok || show.Matching(o) {
		return
	}
	fn := jitcode.Function{Name: f.Name, Addr: f.Addr, Size: f.Size, Thumb: f.thumb}
	f.problem = f.reader.Describe(f.index, &fn)
	o.Num("unwind_tables", uint64(len(fn.Unwind.Sent.FDEs)))
	if !s.process.IsExecutable(fn.Addr, fn.Size) {
		o.Word("memory", "not executable")
	}
	machine := uint32(s.process.Machine)
	l := listing.Code{Machine: machine, Order: s.process.Order}
	l.Fill(&fn, s.Texts)
	if !s.Opts.Disassemble {
		listing.ShowCalls(o, l.Calls)
		o.List("line_table")
		for _, line := range l.Lines {
			o.Row()
			o.At("addr", fn.Addr+line.Offset)
			o.Place(line.File, line.Line, line.Column)
		}
		o.EndList()
		return
	}
	l.Code = make([]byte, min(fn.Size, maxCode))
	if err := f.object.ReadCode(s.process, fn.Addr, l.Code); err != nil {
		o.Word("code", "not known")
		return
	}
	if why := listing.Unsupported(machine); why != "" {
		o.Word("not_disassembled", why)
	}
	l.Show(o)
}
