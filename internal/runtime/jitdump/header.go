package jitdump

import (
	"debug/elf"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// The values in the header of a jitdump, and their reliability.

// Clock returns the clock of the dump's times, from the header. The error is always nil.
func (l *listing) Clock() (source.Clock, error) {
	switch {
	case l.header.Flags.Unknown() != 0:
		return source.UnknownClock, nil
	case l.header.Flags&jitdump.ArchTimestamps != 0:
		return source.ArchClock, nil
	}
	return source.MonotonicClock, nil
}

// Traits returns the traits of jitdumps.
func (l *listing) Traits() source.Traits { return source.Traits{Kind: Kind, ClockUnsure: true} }

// SetMachine sets the machine, if the header has no elf_mach, to that of the recording.
func (l *listing) SetMachine(machine source.Machine) {
	if l.header.Machine != uint32(elf.EM_NONE) {
		return
	}
	ptrSize := uint8(8)
	if machine.Narrow(l.header.PID) {
		ptrSize = 4
	}
	if m := source.MachineOf(machine.Name, ptrSize); m != elf.EM_NONE {
		l.header.Machine, l.assumed = uint32(m), true
	}
}

// HeaderFixes returns the fixes of the header. They are the last in [Dump.Fixes].
func (l *listing) HeaderFixes() (list []source.Fix) {
	if l.header.Flags.Unknown() != 0 {
		list = append(list, source.Fix{Name: "unknown-flags", Count: 1, Text: "header with unknown flags; they were ignored, and the clock was found from the times"})
	}
	if l.assumed {
		list = append(list, source.Fix{Name: "no-machine", Count: 1, Text: "header without elf_mach; the machine is the recording's"})
	}
	if n := l.replaced(); n > 0 {
		list = append(list, source.Fix{Name: "salted-code", Count: n, Text: "functions with their last 8 bytes of code replaced by the runtime; shown as (bad), as the original bytes are unknown"})
	}
	return list
}
