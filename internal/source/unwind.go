package source

import (
	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/jitdump"
)

// How functions are unwound: by what their producer sent, or else by what their code
// shows.

// DeriveFrames says that functions without unwind tables get some that are derived
// from their code. host is the frame that code of the dump runs in, if that is not
// one of its own. It must not run while functions are read.
func (d *Jitdump) DeriveFrames(host *cfi.Entry) { d.derive, d.host = true, host }

// addUnwind fills in how fn is unwound.
func (r *Reader) addUnwind(fn *jitcode.Function) error {
	if at := r.d.parts[r.function].unwind; at.size != 0 {
		raw, err := r.window.record(at, r.d.order())
		if err != nil {
			return err
		}
		r.sentTables(fn, &raw)
	}
	if len(fn.Unwind.Sent.FDEs) > 0 || !r.d.derive {
		return nil
	}
	cie, initial := cfi.CIE(r.d.Target())
	if cie == nil {
		return nil
	}
	found := r.frames.Synthesize(r.d.Target(), fn.Code, r.d.host)
	if r.d.host == nil && !found.Returns && r.d.jumped {
		return nil // nobody knows in which frame it begins
	}
	fn.Unwind.CIE, fn.Unwind.Initial, fn.Unwind.Rows = *cie, initial, found.Rows
	return nil
}

// sentTables takes over the unwind tables that a dump brings for fn.
func (r *Reader) sentTables(fn *jitcode.Function, raw *jitdump.Raw) {
	u, err := raw.Unwinding()
	if err != nil {
		r.problem(raw.Offset, "%v; the function is left without unwind tables", err)
		return
	}
	_ = u
}
