package gdbjit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/jitelf"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit/registered"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
)

// Kind is the kind of registered objects in the summary.
const Kind = "gdb-jit"

// Objects are the registered objects of a process, as one dump.
type Objects struct {
	source.Listing

	// Lost counts functions that are not used, by reason.
	Lost Lost

	process   *registered.Process
	opened    *openObjects
	objects   []registered.Object
	functions []function
	target    jitcode.Target
	path      string
	mode      uint32
	derive    bool
}

// Lost counts functions that are not used.
type Lost struct {
	NotExecutable int // their memory was not executable
	Overlapping   int // they overlap others, and the order is unknown
	InFiles       int // the recording has a file there
}

// Total returns the number of all of them.
func (l *Lost) Total() int { return l.NotExecutable + l.Overlapping + l.InFiles }

// A function is a function of the dump.
type function struct {
	object int // index in objects
	symbol int // index in the object's functions
	at     *jitelf.Symbol
}

var (
	_ source.Dump        = (*Objects)(nil)
	_ source.Group       = (*Objects)(nil)
	_ source.PartlyTimed = (*Objects)(nil)
)

// newObjects makes a dump of objects. path is that of the core or of the process, mode the permissions
// of its file.
func newObjects(p *registered.Process, r *registered.Registered, path string, mode uint32) *Objects {
	d := &Objects{Listing: source.Listing{Cut: -1}, process: p, opened: new(openObjects), objects: r.Objects, path: path, mode: mode}
	d.target = jitcode.Target{Machine: uint32(p.Machine), Order: p.Order}
	for i := range r.Objects {
		symbols := r.Objects[i].Functions
		for j := range symbols {
			s := &symbols[j]
			s.Name = withoutNumbaFlags(s.Name)
			switch {
			case s.Addr < source.MinCode || s.Size > source.MaxRange || s.Addr > source.MaxCodeAddr-s.Size || !p.IsExecutable(s.Addr, s.Size):
				d.Lost.NotExecutable++
			default:
				d.functions = append(d.functions, function{i, j, s})
			}
		}
	}
	d.dropOverlapping()
	d.list()
	return d
}

// dropOverlapping drops functions that share addresses. The same function of two objects counts once:
// the later object has it.
func (d *Objects) dropOverlapping() {
	sorting.Stable(d.functions, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.at.Addr, b.at.Addr), cmp.Compare(a.at.Size, b.at.Size), cmp.Compare(b.object, a.object))
	})
	d.functions = slices.CompactFunc(d.functions, func(a, b function) bool {
		return a.at.Addr == b.at.Addr && a.at.Size == b.at.Size && string(a.at.Name) == string(b.at.Name)
	})
	overlaps := make([]bool, len(d.functions))
	furthest := 0
	for i := 1; i < len(d.functions); i++ {
		end := d.functions[furthest].at.Addr + d.functions[furthest].at.Size
		if d.functions[i].at.Addr < end {
			overlaps[i], overlaps[furthest] = true, true
		}
		if d.functions[i].at.Addr+d.functions[i].at.Size > end {
			furthest = i
		}
	}
	kept := d.functions[:0]
	for i, f := range d.functions {
		if overlaps[i] {
			d.Lost.Overlapping++
		} else {
			kept = append(kept, f)
		}
	}
	d.functions = kept
}

// list makes the events of the functions, without times.
func (d *Objects) list() {
	d.Events = make([]jitcode.Event, len(d.functions))
	d.target.HighAddress = 0
	changes := 0 // of the object
	for i, f := range d.functions {
		if i > 0 && f.object != d.functions[i-1].object {
			changes++
		}
		d.Events[i] = jitcode.Event{Kind: jitcode.Load, Function: int32(i), Index: uint64(i), Addr: f.at.Addr, Size: f.at.Size}
		d.target.HighAddress = max(d.target.HighAddress, f.at.Addr+f.at.Size)
	}
	d.opened.all = changes > 2*len(d.objects)
}

// dropIn drops functions that begin or end in files.
func (d *Objects) dropIn(files recording.Ranges) {
	kept := d.functions[:0]
	for _, f := range d.functions {
		if files.Hold(f.at.Addr) || files.Hold(f.at.Addr+f.at.Size-1) {
			d.Lost.InFiles++
		} else {
			kept = append(kept, f)
		}
	}
	d.functions = kept
	d.list()
}

// Unrelocated implements source.Relocator: an object has its code before relocation.
func (d *Objects) Unrelocated(i int) []byte {
	f := &d.functions[i]
	opened, err := d.opened.get(&d.objects[f.object])
	if err != nil {
		return nil
	}
	return opened.Code(f.symbol)
}

// Traits returns the traits of registered objects.
func (d *Objects) Traits() source.Traits {
	return source.Traits{Kind: Kind, Trust: source.TrustObjects, Registered: true}
}

// SetMachine does nothing: the memory of the process says what machine it is.
func (d *Objects) SetMachine(source.Machine) {}

// Scan does nothing: the list has been read.
func (d *Objects) Scan(ctx context.Context) error { return ctx.Err() }

// PID returns 0: a core's process was compared with the recording when the dump was made.
func (d *Objects) PID() uint32 { return 0 }

// Clock returns the clock of dumps without times.
func (d *Objects) Clock() (source.Clock, error) { return source.MonotonicClock, nil }

// Target returns the target of the code.
func (d *Objects) Target() jitcode.Target { return d.target }

// NumFunctions returns the number of functions.
func (d *Objects) NumFunctions() int { return len(d.functions) }

// DeriveFrames derives unwind tables from code for functions without tables. It must not run while
// functions are read.
func (d *Objects) DeriveFrames(source.Surroundings) { d.derive = true }

// Fixes returns nil.
func (d *Objects) Fixes() []source.Fix { return nil }

// HasTimes returns false: the list has no times.
func (d *Objects) HasTimes() bool { return false }

// StartAt sets the times of all functions, by address.
func (d *Objects) StartAt(_ uint64, time func(addr uint64) uint64) {
	for i := range d.Events {
		d.Events[i].Time = time(d.Events[i].Addr)
	}
}

// Paths returns nil: the memory of the process is no file of the dump alone.
func (d *Objects) Paths() []string { return nil }

// Bytes returns the size of all objects, in bytes.
func (d *Objects) Bytes() (n int64) {
	for i := range d.objects {
		n += int64(len(d.objects[i].Image))
	}
	return n
}

// Mode returns the permissions of the core, or of the memory of the process.
func (d *Objects) Mode() uint32 { return d.mode }

// HasCode reports whether the bytes of the i-th function are known.
func (d *Objects) HasCode(i int) bool {
	f := &d.functions[i]
	var b [1]byte
	o := &d.objects[f.object]
	return o.ReadCode(d.process, f.at.Addr, b[:]) == nil && o.ReadCode(d.process, f.at.Addr+f.at.Size-1, b[:]) == nil
}

// place returns the place of a function's object, for messages.
func (d *Objects) place(f *function) string {
	return fmt.Sprintf("object at %#x", d.objects[f.object].Symfile)
}
