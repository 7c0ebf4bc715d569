package known

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pythonFile matches names of CPython's program and library.
var pythonFile = regexp.MustCompile(`^(?:lib)?python3\.(\d{1,3})(?:[^\d]|$)`)

// jitRegisters is the first minor version of CPython 3 whose JIT compiler registers its code for
// debuggers (Python/jit_publish.c).
const jitRegisters = 15

// python returns r for a process that runs CPython with a main thread and files of these names. What
// -X perf_jit makes CPython write are trampolines, which call the interpreter: hardly any sample is in
// one. Samples in code of a process are of other code.
func python(r Runtime, comm string, files []string) *Runtime {
	minor := 0
	for _, name := range append([]string{comm}, files...) {
		if m := pythonFile.FindStringSubmatch(path.Base(name)); m != nil {
			n, _ := strconv.Atoi(m[1])
			minor = max(minor, n)
		}
	}
	switch {
	case minor >= 13:
		r.note = ""
	case minor == 12:
		r.recordable = byNothing // its variable would make a map
		r.options, r.ignored, r.flags, r.env = "-X perf", "-X perf_jit", []string{"-X perf", "-Xperf", "PYTHONPERFSUPPORT"}, []string{"PYTHONPERFSUPPORT"}
		r.note = mapOnly + "; Python 3.13 has -X perf_jit"
	case minor > 0:
		r.options, r.flags, r.note = "", nil, fmt.Sprintf("Python 3.%d can write no dump; Python 3.13 and newer have -X perf_jit", minor)
	}
	loads := func(library string) bool {
		return slices.ContainsFunc(files, func(f string) bool { return strings.Contains(path.Base(f), library) })
	}
	switch {
	case loads("_cinderx"):
		r.other = "it has loaded CinderX, which -X perf_jit does not describe"
		r.live = "perf record -k mono --call-graph dwarf,65528 python3 -X cinderx-jit-all PROGRAM.py  # it writes /tmp/perf-PID.map; inject while that is there"
	case loads("llvmlite"):
		r.other = "it has loaded LLVM (llvmlite, as Numba does), which -X perf_jit does not describe"
		r.live = llvmLive + "  # Numba's code is registered for debuggers: jitinject help gdbjit"
	case minor >= jitRegisters:
		r.other = fmt.Sprintf("Python 3.%d has a JIT compiler (PYTHON_JIT=1), and -X perf_jit would switch that off", minor)
		r.live = llvmLive + "  # its code is registered for debuggers: jitinject help gdbjit"
	default:
		r.other = "-X perf_jit describes Python's functions, which are callers of such code"
	}
	return &r
}
