package procmem

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Started returns when a process started, in nanoseconds of CLOCK_MONOTONIC, or up to 10 ms earlier.
func Started(pid uint32) (uint64, error) {
	stat, err := sys.ReadFile(Dir(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	const startTime = 22 - 3 // field 22 of proc(5); the name, field 2, may contain anything
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= startTime {
		return 0, fmt.Errorf("%s/stat has no start time", Dir(pid))
	}
	ticks, err := strconv.ParseUint(string(fields[startTime]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s/stat: %w", Dir(pid), err)
	}
	var monotonic, boot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &monotonic); err != nil {
		return 0, err
	}
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot); err != nil {
		return 0, err
	}
	const tick = 1e9 / 100 // USER_HZ, on every machine
	start, asleep := ticks*tick, uint64(boot.Nano()-monotonic.Nano())
	return start - min(start, asleep), nil
}

// Numbers returns the numbers of a process in its pid namespaces: ours first, and its own last. Old kernels
// say ours only.
func Numbers(pid uint32) ([]uint32, error) {
	numbers := []uint32{pid}
	status, err := sys.ReadFile(Dir(pid) + "/status")
	if err != nil {
		return nil, err
	}
	_, after, _ := strings.Cut(string(status), "\nNSpid:")
	line, _, _ := strings.Cut(after, "\n")
	for field := range strings.FieldsSeq(line) {
		if n, err := strconv.ParseUint(field, 10, 32); err == nil {
			numbers = append(numbers, uint32(n))
		}
	}
	return numbers, nil
}
