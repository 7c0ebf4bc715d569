package jitdump

import (
	"path"
	"strconv"
	"strings"
)

// ProcessOf returns the process in the path of a dump, jit-PID.dump, by its number in its own pid namespace,
// and whether the name is one. JavaScriptCore calls its dumps jit-TID-PID.dump. The name may end in
// " (deleted)", which the kernel appends to that of a deleted file.
func ProcessOf(file string) (pid uint32, ok bool) {
	name, isDump := strings.CutSuffix(path.Base(strings.TrimSuffix(file, " (deleted)")), ".dump")
	name, isJIT := strings.CutPrefix(name, "jit-")
	if first, second, both := strings.Cut(name, "-"); both {
		if _, err := strconv.ParseUint(first, 10, 32); err != nil {
			return 0, false
		}
		name = second
	}
	n, err := strconv.ParseUint(name, 10, 32)
	if !isDump || !isJIT || err != nil {
		return 0, false
	}
	return uint32(n), true
}
