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
func (l *listing) Traits() source.Traits {
	return source.Traits{Kind: Kind, Trust: source.TrustDump, ClockUnsure: true}
}

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
