package recording

import (
	"bytes"
	"fmt"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/jitdump"
	"github.com/jitinject/jitinject/perfdata"
)

// This file interprets the names of mappings.

// DeletedSuffix is what the kernel appends to the name of a file that has been deleted.
const DeletedSuffix = " (deleted)"

// markerNumber returns the number in the name of a dump, and whether path is a path with such a name.
func markerNumber(path []byte) (number uint32, ok bool) {
	number, ok = jitdump.ProcessOf(string(path))
	return number, ok && bytes.IndexByte(path, '/') >= 0
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

// memFile begins names of memory files (memfd_create(2)).
const memFile = "/memfd:"

var anonymousNames = [][]byte{
	[]byte("//anon"),
	[]byte("[anon:"),
	[]byte("[anon_shmem:"),
	[]byte(memFile),
	[]byte("/dev/zero"),
	[]byte("/SYSV"),
	[]byte("/anon_hugepage"),
}

// isTruffle reports whether a thread has the name of Truffle's compiler in a native image: of
// TruffleCompilerThread-N, which is longer than a thread's name may be, the end is left.
func isTruffle(comm []byte) bool {
	const before, most = "TruffleCompilerThread-", 15
	number := bytes.TrimRight(comm, "0123456789")
	return len(comm) == most && len(number) < most && len(number) > most/2 && bytes.HasSuffix([]byte(before), number)
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

// EventNames returns perf's names for the events, one for each attr. All are "" if the recording does not
// have them. They are read anew with each call.
func (r *Recording) EventNames() []string {
	names := make([]string, len(r.Attrs))
	f := r.In.File.Feature(perfdata.FeatureEventDesc)
	if f == nil {
		return names
	}
	described, err := f.Bytes()
	if err != nil {
		return names
	}
	events, err := perfdata.EventDesc(r.In.Order, described)
	if err != nil || len(events) != len(r.Attrs) {
		return names
	}
	for i := range events {
		names[i] = events[i].Name
	}
	return names
}
