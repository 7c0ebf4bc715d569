package jitdump

import (
	"debug/elf"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// What the header of a jitdump says, and how far that is believed.

// Clock returns the clock that the header says the dump's times are of. The error is
// always nil.
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

// SetMachine sets the machine of a dump that has no elf_mach in its header to the recording's.
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

// HeaderFixes returns the repairs of the dump as a whole, the last of [Jitdump.Repairs].
func (d *Dump) HeaderFixes() (list []source.Fix) {
	if d.header.Flags.Unknown() != 0 {
		list = append(list, source.Fix{Name: "unknown-flags", Count: 1, Text: "header with flags that no version of the format has, so that none is believed; the clock was found by the times"})
	}
	if d.assumed {
		list = append(list, source.Fix{Name: "no-machine", Count: 1, Text: "header without elf_mach; the machine is the recording's"})
	}
	if n := d.replaced(); n > 0 {
		list = append(list, source.Fix{Name: "salted-code", Count: n, Text: "functions whose last 8 bytes of code the runtime has replaced in the dump; shown as (bad), as the true ones are unknown"})
	}
	return list
}
