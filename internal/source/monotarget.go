package source

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// What the times of a log count, and what machine its code is for.

// Began returns when the log was begun: what its header says, or else its first time.
func (m *MonoLog) Began() uint64 {
	if m.header.StartupTime > 0 {
		return m.header.StartupTime
	}
	first, _ := m.Span()
	return first
}

// Span returns the times of the first and the last event about code; both are 0 if there
// is none.
func (m *MonoLog) Span() (first, last uint64) {
	for i := range m.Events {
		t := m.Events[i].Time
		if i == 0 {
			first = t
		}
		first, last = min(first, t), max(last, t)
	}
	return first, last
}

// Clock returns the clock of the log's times. It fails for those of Mono of 2010 that
// were recorded with a clock that counts something else: then nothing says when anything
// happened.
func (m *MonoLog) Clock() (Clock, error) {
	if m.header.StartupTime == 0 && m.latest < minMonoTime {
		return 0, fmt.Errorf("its times are no times, the latest is %d: it was recorded with time=null or time=fast, in the options of Mono's profiler; leave that out", m.latest)
	}
	return MonotonicClock, nil
}

// minMonoTime is how soon after the start of the machine nobody runs a program, in
// nanoseconds. time=null counts events.
const minMonoTime = 1e9

// Target returns what the log's code is made for.
func (m *MonoLog) Target() jitcode.Target { return m.target }

// SetTarget says what machine the code is for, where the log does not: machine is as
// uname(2) has it.
func (m *MonoLog) SetTarget(machine string, order binary.ByteOrder) {
	if m.target.Machine == uint32(elf.EM_NONE) {
		m.target.Machine = uint32(monoMachine(machine, m.header.PtrSize))
	}
	m.target.Order = order
}

// monoMachine returns the machine of a name, which is Mono's, or the kernel's; EM_NONE
// if nobody knows it. Programs of 32 bits run on machines of 64.
func monoMachine(name string, ptrSize uint8) elf.Machine {
	narrow := ptrSize == 4
	switch name {
	case "x86-64", "amd64", "x86_64":
		if narrow {
			return elf.EM_386
		}
		return elf.EM_X86_64
	case "x86", "i386", "i486", "i586", "i686":
		return elf.EM_386
	case "arm64", "aarch64":
		if narrow {
			return elf.EM_ARM
		}
		return elf.EM_AARCH64
	case "arm", "armv6l", "armv7l", "armv8l":
		return elf.EM_ARM
	case "ppc64", "ppc64le":
		return elf.EM_PPC64
	case "ppc":
		return elf.EM_PPC
	case "s390x", "s390":
		return elf.EM_S390
	case "riscv", "riscv64", "riscv32":
		return elf.EM_RISCV
	case "mips", "mips64":
		return elf.EM_MIPS
	case "sparc", "sparc64":
		return elf.EM_SPARCV9
	}
	return elf.EM_NONE
}
