package jitdump

import (
	"debug/elf"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/ehframe"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/jitdump/hotspot"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// Unwind tables of functions: the producer's, or else tables derived from code.

// DeriveFrames derives unwind tables from code for functions that have none. It must not run while
// functions are read.
func (d *Dump) DeriveFrames(s source.Surroundings) {
	c := &d.decisions.callees
	c.derive, c.interpreter, c.copies = true, s.Interpreter, s.Copies
	c.collect(&d.listing)
}

// addUnwind sets the unwind tables of fn.
func (r *Reader) addUnwind(fn *jitcode.Function) error {
	if at := r.listing.partsOf(r.function).unwind; at.Size != 0 {
		if err := r.sentTables(fn, at); err != nil {
			return err
		}
	}
	sent := len(fn.Unwind.Sent.FDEs) > 0
	if !r.decisions.callees.derive || !fn.HasCode() {
		return nil
	}
	cie, initial := cfi.CIE(r.listing.Target())
	if cie == nil {
		return nil
	}
	r.frames.Strict = r.decisions.callees.strict || sent
	r.frames.Leaves = r.decisions.callees.barrier.Found() // HotSpot
	r.frames.Callee = func(offset int64) cfi.Callee { return r.effects.of(fn.Addr + uint64(offset)) }
	found := r.frames.Synthesize(r.listing.Target(), fn.Code, nil)
	if sent {
		place := r.placeOf(fn)
		if ehframe.Correct(place, &fn.Unwind, r.frames.Proofs(&found), found.Rows) {
			fn.Unwind.CIE, fn.Unwind.Initial = *cie, initial
			r.fixes.contradicted.Add(1)
		}
		if r.decisions.callees.strict { // wrong where a function moves its return address to drop arguments
			fn.Unwind.Sent, _ = ehframe.Cut(place, fn.Unwind.Sent, found.Moved)
		}
		return nil
	}
	if r.listing.traces && !found.Returns {
		if r.decisions.callees.interpreter == nil {
			return nil // the frame at its entry is unknown
		}
		entry := cfi.Entry{Row: *r.decisions.callees.interpreter, Shared: true}
		if entry.Row.CFA.Reg == initial.CFA.Reg {
			entry.Row.CFA.Offset += int64(found.Popped)
		}
		found = r.frames.Synthesize(r.listing.Target(), fn.Code, &entry)
	}
	fn.Unwind.CIE, fn.Unwind.Initial, fn.Unwind.Rows = *cie, initial, r.decisions.callees.barrier.Rows(r.listing.Target(), fn, hotspot.Rows(r.listing.Target(), fn, &found))
	return nil
}

// sentTables sets the producer's unwind tables of fn, if an unwinder can use them. V8 sends empty
// tables for most functions; they are ignored. It fails if the record cannot be read again.
func (r *Reader) sentTables(fn *jitcode.Function, at source.Span) error {
	var table jitcode.FrameTable
	var err error
	if b := r.listing.batchOf(at); b != nil {
		table, err = r.batchTables(fn, b)
	} else {
		var raw jitdump.Raw
		if raw, err = r.code.window.record(at); err != nil {
			return err
		}
		table, err = r.checkedTables(fn, &raw)
	}
	if err != nil {
		instead := "the function is left without unwind tables"
		if r.decisions.callees.derive {
			instead = "tables derived from the code are used instead"
		}
		r.problem(at.Off, "%s at offset %#x: %v; %s", jitdump.IDUnwinding, at.Off, err, instead)
		r.fixes.unwind.Add(1)
		return nil
	}
	fn.Unwind.Sent = table
	return nil
}

// checkedTables returns the producer's tables of fn, or an error if they are unusable.
func (r *Reader) checkedTables(fn *jitcode.Function, raw *jitdump.Raw) (jitcode.FrameTable, error) {
	u, err := raw.Unwinding()
	if err != nil {
		return jitcode.FrameTable{}, err
	}
	frames, header, err := ehframe.Split(r.listing.order(), u.Data, u.HeaderSize)
	if err != nil || len(frames) == 0 {
		return jitcode.FrameTable{}, err
	}
	table, err := ehframe.Check(r.placeOf(fn), frames)
	inFront := len(header) > 0 && &header[0] == &u.Data[0]
	if err == nil && len(table.FDEs) > 0 && (inFront || table.Moved) {
		r.fixes.displaced.Add(1)
	}
	return table, err
}

// placeOf returns where perf expects the tables of fn.
func (r *Reader) placeOf(fn *jitcode.Function) ehframe.Place {
	place := ehframe.DefaultPlace(r.listing.order(), r.listing.addrSize(), fn.Addr, fn.Size)
	place.Machine = elf.Machine(r.listing.header.Machine)
	return place
}
