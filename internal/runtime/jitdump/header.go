package jitdump

import (
	"debug/elf"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// The values in the header of a jitdump, and their reliability.

// Clock returns the clock of the dump's times, from the header. The error is always nil.
func (d *Dump) Clock() (source.Clock, error) {
	switch {
	case d.header.Flags.Unknown() != 0:
		return source.UnknownClock, nil
	case d.header.Flags&jitdump.ArchTimestamps != 0:
		return source.ArchClock, nil
	}
	return source.MonotonicClock, nil
}

// Traits returns the traits of jitdumps.
func (d *Dump) Traits() source.Traits { return source.Traits{Kind: Kind, ClockUnsure: true} }

// SetMachine sets the machine, if the header has no elf_mach, to that of the recording.
func (d *Dump) SetMachine(machine source.Machine) {
	if d.header.Machine != uint32(elf.EM_NONE) {
		return
	}
	ptrSize := uint8(8)
	if machine.Narrow(d.header.PID) {
		ptrSize = 4
	}
	if m := source.MachineOf(machine.Name, ptrSize); m != elf.EM_NONE {
		d.header.Machine, d.assumed = uint32(m), true
	}
}

// HeaderFixes returns the fixes of the header. They are the last in [Dump.Fixes].
func (d *Dump) HeaderFixes() (list []source.Fix) {
	if d.header.Flags.Unknown() != 0 {
		list = append(list, source.Fix{Name: "unknown-flags", Count: 1, Text: "header with unknown flags; they were ignored, and the clock was found from the times"})
	}
	if d.assumed {
		list = append(list, source.Fix{Name: "no-machine", Count: 1, Text: "header without elf_mach; the machine is the recording's"})
	}
	if n := d.replaced(); n > 0 {
		list = append(list, source.Fix{Name: "salted-code", Count: n, Text: "functions with their last 8 bytes of code replaced by the runtime; shown as (bad), as the original bytes are unknown"})
	}
	return list
}
