package source

import (
	"debug/elf"

	"github.com/jitinject/jitinject/jitdump"
)

// What the header of a jitdump says, and how far that is believed.

// A Clock is what a source's times are counted by.
type Clock int

const (
	MonotonicClock Clock = iota // nanoseconds of CLOCK_MONOTONIC
	ArchClock                   // ticks of the processor's counter
	RealtimeClock               // nanoseconds of CLOCK_REALTIME
	UnknownClock                // the header says nothing that can be believed: times have to tell
)

// Sure returns the clock, or MonotonicClock where that is unknown: it is what the format
// wants, and nearly all producers write.
func (c Clock) Sure() Clock {
	if c == UnknownClock {
		return MonotonicClock
	}
	return c
}

// Clock returns the clock that the header says the dump's times are of. The error is
// always nil.
func (d *Jitdump) Clock() (Clock, error) {
	switch {
	case d.header.Flags.Unknown() != 0:
		return UnknownClock, nil
	case d.header.Flags&jitdump.ArchTimestamps != 0:
		return ArchClock, nil
	}
	return MonotonicClock, nil
}

// SetMachine says what machine the recording is of, as uname(2) has it, for a dump whose
// header has no elf_mach. narrow says that the process is one of 32 bits. It must come
// before the first Scan.
func (d *Jitdump) SetMachine(machine string, narrow bool) {
	if d.header.Machine != uint32(elf.EM_NONE) {
		return
	}
	ptrSize := uint8(8)
	if narrow {
		ptrSize = 4
	}
	if m := monoMachine(machine, ptrSize); m != elf.EM_NONE {
		d.header.Machine, d.assumed = uint32(m), true
	}
}

// HeaderRepairs returns what was put right for the dump as a whole, which [Jitdump.Repairs]
// does not have.
func (d *Jitdump) HeaderRepairs() (list []Repair) {
	if d.header.Flags.Unknown() != 0 {
		list = append(list, Repair{"unknown-flags", 1, "header with flags that no version of the format has, so that none is believed; the clock was found by the times"})
	}
	if d.assumed {
		list = append(list, Repair{"no-machine", 1, "header without elf_mach; the machine is the recording's"})
	}
	if n := d.replaced(); n > 0 {
		list = append(list, Repair{"salted-code", n, "functions whose last 8 bytes of code the runtime has replaced in the dump; shown as (bad), as the true ones are unknown"})
	}
	return list
}
