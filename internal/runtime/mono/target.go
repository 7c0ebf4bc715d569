package mono

import (
	"debug/elf"
	"fmt"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// What the times of a log count, and what machine its code is for.

// Began returns when the log was begun: what its header says, or else its first time.
func (m *Log) Began() uint64 {
	if m.header.StartupTime > 0 {
		return m.header.StartupTime
	}
	first, _ := m.Span()
	return first
}

// Span returns the times of the first and the last event about code; both are 0 if there
// is none.
func (m *Log) Span() (first, last uint64) {
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
func (m *Log) Clock() (source.Clock, error) {
	if m.header.StartupTime == 0 && m.latest < minMonoTime {
		return 0, fmt.Errorf("its times are no times, the latest is %d: it was recorded with time=null or time=fast, in the options of Mono's profiler; leave that out", m.latest)
	}
	return source.MonotonicClock, nil
}

// minMonoTime is how soon after the start of the machine nobody runs a program, in
// nanoseconds. time=null counts events.
const minMonoTime = 1e9

// Target returns what the log's code is made for.
func (m *Log) Target() jitcode.Target { return m.target }

// SetMachine sets the machine of a log that does not name its own to the recording's.
func (m *Log) SetMachine(machine source.Machine) {
	if m.target.Machine == uint32(elf.EM_NONE) {
		m.target.Machine = uint32(source.MachineOf(machine.Name, m.header.PtrSize))
	}
	m.target.Order = machine.Order
}

// Traits returns the traits of logs.
func (m *Log) Traits() source.Traits { return source.Traits{Kind: Kind, Images: true} }

// ShortenNames leaves the parameters out of the names of functions.
func (m *Log) ShortenNames() { m.Short = true }
