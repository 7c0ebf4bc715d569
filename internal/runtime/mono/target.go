package mono

import (
	"debug/elf"
	"fmt"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/source"
)

// The clock of a log, and the machine of its code.

// Began returns the start time of the log, from its header, or else its first time.
func (m *Log) Began() uint64 {
	if m.header.StartupTime > 0 {
		return m.header.StartupTime
	}
	first, _ := m.Span()
	return first
}

// Span returns the times of the first and the last event about code; both are 0 if there is none.
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

// Clock returns the clock of the log's times. It fails for logs of Mono of 2010 that were recorded
// with a clock that counts something else. Their events have no usable times.
func (m *Log) Clock() (source.Clock, error) {
	if m.header.StartupTime == 0 && m.latest < minMonoTime {
		return 0, fmt.Errorf("its times are not real times, the latest is %d: it was recorded with time=null or time=fast; record without that option of Mono's profiler", m.latest)
	}
	return source.MonotonicClock, nil
}

// minMonoTime is the earliest plausible time after boot, in nanoseconds. time=null counts events
// instead.
const minMonoTime = 1e9

// SetMachine sets the byte order, and the machine if the header has none, to the recording's.
func (m *Log) SetMachine(machine source.Machine) {
	if m.Code.Machine == uint32(elf.EM_NONE) {
		m.Code.Machine = uint32(source.MachineOf(machine.Name, m.header.PtrSize))
	}
	m.Code.Order = machine.Order
}

// Traits returns the traits of logs.
func (m *Log) Traits() source.Traits {
	return source.Traits{Kind: Kind, Trust: source.TrustLog, Images: true, Unchecked: true}
}

// Prepare removes the parameters from the names of a log's functions if opts say so.
func Prepare(d source.Dump, opts *config.Options) {
	if m, ok := d.(*Log); ok {
		m.Short = opts.ShortNames
	}
}
