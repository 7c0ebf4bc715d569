package memcode

import (
	"errors"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/disasm"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// A Dump is the base of a source.Dump without bytes of code. Its functions have numbers from 0 on.
type Dump struct {
	source.Listing

	// Code is the target of the functions.
	Code jitcode.Target

	// Load returns the event that a function is loaded by, or nil if its bytes are unknown. If Load is nil, that
	// is the event of the function's number.
	Load func(function int) *jitcode.Event

	places  []place // of the functions, once their events are dropped
	machine source.Machine
	memory  source.CodeMemory
	derive  bool
}

// Target implements source.Dump.
func (d *Dump) Target() jitcode.Target { return d.Code }

// Clock returns the clock of recordings: it does not matter if a dump has no times.
func (d *Dump) Clock() (source.Clock, error) { return source.MonotonicClock, nil }

// PID returns 0: the file does not say its process.
func (d *Dump) PID() uint32 { return 0 }

// Fixes implements source.Dump.
func (d *Dump) Fixes() []source.Fix { return nil }

// SetMachine sets the machine of the code. It may have 64 bits more than the process: see SetPID.
func (d *Dump) SetMachine(machine source.Machine) {
	d.machine = machine
	d.Code.Machine, d.Code.Order = uint32(source.MachineOf(machine.Name, 8)), machine.Order
}

// SetPID sets the process, which may have 32 bits on a machine with 64. It must follow SetMachine.
func (d *Dump) SetPID(pid uint32) {
	if d.machine.Narrow != nil && d.machine.Narrow(pid) {
		d.Code.Machine = uint32(source.MachineOf(d.machine.Name, 4))
	}
}

// CodeFrom implements source.WithoutCode.
func (d *Dump) CodeFrom(sources []source.CodeSource, world source.CodeWorld) (late []int) {
	functions := 0
	for i := range d.Events {
		functions = max(functions, int(d.Events[i].Function)+1)
	}
	d.memory, late = source.NewCodeMemory(sources, d.Events, functions, world)
	return late
}

// HasCode implements source.Dump.
func (d *Dump) HasCode(function int) bool {
	addr, size, ok := d.load(function)
	return ok && d.memory.Has(function, addr, size)
}

// DeriveFrames implements source.Dump.
func (d *Dump) DeriveFrames(source.Surroundings) { d.derive = true }

func (d *Dump) load(function int) (addr, size uint64, ok bool) {
	if d.Load == nil {
		addr, size = d.Place(function)
		return addr, size, true
	}
	if e := d.Load(function); e != nil {
		return e.Addr, e.Size, true
	}
	return 0, 0, false
}

// A place is the address of a function, and its size in bytes.
type place struct{ addr, size uint64 }

// Place returns the address of a function with an event of its number, and its size in bytes.
func (d *Dump) Place(function int) (addr, size uint64) {
	if d.places != nil {
		return d.places[function].addr, d.places[function].size
	}
	e := &d.Events[function]
	return e.Addr, e.Size
}

// KeepPlaces keeps the events' places, and drops all but two of the events.
func (d *Dump) KeepPlaces() {
	if d.places != nil {
		return
	}
	d.places = make([]place, len(d.Events))
	for i := range d.Events {
		d.places[i] = place{d.Events[i].Addr, d.Events[i].Size}
	}
	d.Listing.KeepEnds()
}

// A Reader is the base of a source.FunctionReader of a Dump.
type Reader struct {
	Dump *Dump

	code   []byte
	frames Frames
}

// Bytes returns the code of a function, valid until the next call, or nil if it is unknown.
func (r *Reader) Bytes(function int) []byte {
	addr, size, ok := r.Dump.load(function)
	if !ok {
		return nil
	}
	code := r.Dump.memory.Read(function, addr, size, r.code)
	if code != nil {
		r.code = code
	}
	return code
}

// Derive derives the unwind table of a function, if that was asked for.
func (r *Reader) Derive(fn *jitcode.Function) {
	if r.Dump.derive {
		r.frames.Derive(r.Dump.Code, fn)
	}
}

// Targets implements source.FunctionReader.
func (r *Reader) Targets(function int, f func(offset int64)) error {
	return Targets(r.Dump.Code, r.Bytes(function), f)
}

// TakeProblems returns nil: Scan finds all problems.
func (r *Reader) TakeProblems() []source.Problem { return nil }

// Targets calls f for every direct branch that leaves the code of a function. It fails without code.
func Targets(t jitcode.Target, code []byte, f func(offset int64)) error {
	if code == nil {
		return errors.New("the bytes of that function are not known")
	}
	disasm.Targets(t, code, f)
	return nil
}

// A Frames derives unwind tables.
type Frames struct{ synthesizer cfi.Synthesizer }

// Derive sets the unwind table of a function that has code and no table.
func (f *Frames) Derive(t jitcode.Target, fn *jitcode.Function) {
	if len(fn.Code) == 0 || !fn.Unwind.Empty() {
		return
	}
	if cie, initial := cfi.CIE(t); cie != nil {
		fn.Unwind.CIE, fn.Unwind.Initial = *cie, initial
		fn.Unwind.Rows = f.synthesizer.Synthesize(t, fn.Code, nil).Rows
	}
}
