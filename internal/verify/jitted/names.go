package jitted

import (
	"path/filepath"
	"strconv"
	"strings"
)

// IsObject reports whether a path is that of an object that jitinject or perf
// inject made: jitted-PID-NUMBER.so, or jitbundle-PID-ADDRESS-ID.so of jitinject 0.1.
func IsObject(path string) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	name, ok := strings.CutPrefix(base, "jitted-")
	if !ok {
		name, ok = strings.CutPrefix(base, "jitbundle-")
	}
	return ok && strings.HasSuffix(name, ".so") && name[0] >= '0' && name[0] <= '9'
}

// HasMadeNumber reports whether the number in an object's name is made of its contents:
// it is at least 2^62. jitinject maps such an object in /tmp as /tmp/./jitted-*.
func HasMadeNumber(path string) bool {
	name := strings.TrimSuffix(filepath.Base(path), ".so")
	n, err := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	return IsObject(path) && err == nil && n >= 1<<62
}

// NumberOfDump returns the number in the name jit-NUMBER.dump, or in
// JavaScriptCore's jit-TID-NUMBER.dump.
func NumberOfDump(base string) (uint32, bool) {
	base, ok := strings.CutPrefix(base, "jit-")
	digits, found := strings.CutSuffix(base, ".dump")
	if tid, pid, both := strings.Cut(digits, "-"); both {
		_, err := strconv.ParseUint(tid, 10, 32)
		ok, digits = ok && err == nil, pid
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), ok && found && err == nil
}

// IsMarker reports whether a mapping names a dump.
func IsMarker(name string) bool {
	if filepath.Dir(name) == "." {
		return false
	}
	_, ok := NumberOfDump(filepath.Base(name))
	return ok
}
