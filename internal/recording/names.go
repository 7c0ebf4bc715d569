package recording

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/jitinject/jitinject/internal/quote"
)

// This file interprets the names of mappings.

// DeletedSuffix is what the kernel appends to the name of a file that has been deleted.
const DeletedSuffix = " (deleted)"

// markerNumber returns the number in the name of a dump, jit-NUMBER.dump, and whether path is
// such a name. The number is the producer's pid in its own pid namespace. JavaScriptCore calls
// its dumps jit-TID-NUMBER.dump.
func markerNumber(path []byte) (number uint32, ok bool) {
	path = bytes.TrimSuffix(path, []byte(DeletedSuffix))
	slash := bytes.LastIndexByte(path, '/')
	if slash < 0 {
		return 0, false
	}
	numbers, ok := bytes.CutPrefix(path[slash+1:], []byte("jit-"))
	if !ok {
		return 0, false
	}
	if numbers, ok = bytes.CutSuffix(numbers, []byte(".dump")); !ok {
		return 0, false
	}
	if tid, pid, both := bytes.Cut(numbers, []byte("-")); both {
		if _, ok = decimal(tid); !ok {
			return 0, false
		}
		numbers = pid
	}
	return decimal(numbers)
}

// decimal returns the value of a string that consists of digits only.
func decimal(digits []byte) (uint32, bool) {
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(digits), 10, 32)
	return uint32(n), err == nil
}

// The names of objects begin with ObjectPrefix. Objects of several functions that jitinject 0.1 made
// begin with OldPrefix.
const (
	ObjectPrefix = "jitted-"
	OldPrefix    = "jitbundle-"
)

// IsObject reports whether a mapping is of an object that jitinject or perf inject made:
// jitted-PID-NUMBER.so, or jitbundle-PID-ADDRESS-ID.so of jitinject 0.1.
func IsObject(path []byte) bool {
	base := path[bytes.LastIndexByte(path, '/')+1:]
	name, ok := bytes.CutPrefix(base, []byte(ObjectPrefix))
	if !ok {
		name, ok = bytes.CutPrefix(base, []byte(OldPrefix))
	}
	return ok && bytes.HasSuffix(name, []byte(".so")) && len(name) > len(".so") && name[0] >= '0' && name[0] <= '9'
}

// IsAnonymous reports whether a mapping is of memory, in which code may have been made, and not
// of a file with symbols. Shared memory has the name of the file that the kernel keeps it in.
func IsAnonymous(name []byte) bool {
	for _, prefix := range anonymousNames {
		if bytes.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

var anonymousNames = [][]byte{
	[]byte("//anon"),
	[]byte("[anon:"),
	[]byte("[anon_shmem:"),
	[]byte("/memfd:"),
	[]byte("/dev/zero"),
	[]byte("/SYSV"),
	[]byte("/anon_hugepage"),
}

// ClearName is the name of a mapping that clears a range: nothing known is there.
const ClearName = "//anon"

// NameOf returns the name of a process for messages. comm may be "".
func NameOf(pid uint32, comm string) string {
	if comm == "" {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("process %d (%s)", pid, quote.Printable(comm))
}
