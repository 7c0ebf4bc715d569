package jitted

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/addrs"
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

// A Function is a function in JIT memory, as a record of a side file has it.
type Function struct {
	Addr, Size uint64 // in the process, in bytes
	Offset     int64  // of the record in the file
	PID        uint32 // 0 if the record does not say
	Gone       bool   // other code lies at its place
}

// Places are the functions that are there. Those of one process never overlap: what is
// put over others takes their place.
type Places struct {
	of map[uint32]*addrs.Owners // by process; the owner is the function, or gone
}

// gone owns the addresses of functions that are there no more.
const gone = -1

// Put puts function i where it says it is, and calls yield for those that lay there, in
// the order of their addresses. They are gone from the places then.
func (p *Places) Put(functions []Function, i int32, yield func(int32)) {
	f := &functions[i]
	if f.Size == 0 {
		return
	}
	if p.of == nil {
		p.of = make(map[uint32]*addrs.Owners)
	}
	here := p.of[f.PID]
	if here == nil {
		here = new(addrs.Owners)
		p.of[f.PID] = here
	}
	for _, t := range here.Within(f.Addr, f.Addr+f.Size) {
		if t.Owner != gone {
			p.Remove(&functions[t.Owner])
			yield(int32(t.Owner))
		}
	}
	here.Place(f.Addr, f.Addr+f.Size, int(i))
}

// Remove takes a function out that is there.
func (p *Places) Remove(f *Function) {
	if f.Size > 0 {
		p.of[f.PID].Place(f.Addr, f.Addr+f.Size, gone)
	}
}
