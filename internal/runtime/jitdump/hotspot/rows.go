package hotspot

import (
	"bytes"
	"debug/elf"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// Code of HotSpot with a frame that it does not show. It has names that no method has.

// interpreter is the name of the template interpreter's code.
const interpreter = "Interpreter"

// safepoint is the name of the code that a thread runs at a safepoint. A signal handler
// continues there at a poll in a loop, without a return address on the stack. Such code begins with
// push rbx, and the VM stores the return address there later (generate_handler_blob of
// sharedRuntime_x86_64.cpp). So no row from its entry is valid. Its frame pointer leads to the
// caller once the address is stored.
const safepoint = "SafepointBlob"

var pushRBX = []byte{0x53}

// plainName returns the name that a stub of HotSpot has in JDK 25. JDK 27 has these names with an
// ending, as in "cont_preempt_stub (stub gen)", and others for SafepointBlob.
func plainName(name []byte) string {
	stub, ok := bytes.CutSuffix(name, []byte("_stub (stub gen)"))
	switch {
	case ok:
		return string(stub)
	case bytes.HasSuffix(name, []byte("safepoint_handler_blob (shared runtime)")):
		return safepoint
	}
	return string(name)
}

// jumpedTo has the names of code that is entered by a jump or by a return, in the frame of
// other code and without a return address on the stack. It leaves by a jump, too, so it looks like
// code that is called. Where names differ, they are those of JDK 21 and JDK 25; see plainName. Code
// of that name that returns as a called function does is something else.
var jumpedTo = map[string]bool{
	// Handlers of exceptions in C2's methods jump there, with the method's frame
	// (generate_exception_blob of runtime_x86_64.cpp).
	"ExceptionBlob": true,
	// Handlers of exceptions that leave Java, in the frames of call_stub and of upcalls
	// (generate_catch_exception of stubGenerator_x86_64.cpp, and upcallLinker_x86_64.cpp).
	"catch_exception":               true,
	"upcall stub exception handler": true,
	"upcall_stub_exception_handler": true,
	// The last frame of a virtual thread on its carrier's stack returns there, instead of to its
	// caller, which is not on the stack yet (generate_cont_thaw and generate_cont_preempt_stub of
	// stubGenerator_x86_64.cpp).
	"Cont thaw return barrier":           true,
	"Cont thaw return barrier exception": true,
	"cont_returnBarrier":                 true,
	"cont_returnBarrierExc":              true,
	"cont_preempt":                       true,
}

// Rows returns the rows of fn. found is derived from its code.
func Rows(t jitcode.Target, fn *jitcode.Function, found *cfi.Result) []jitcode.FrameRow {
	switch name := plainName(fn.Name); {
	case name == interpreter:
		return cfi.InterpreterRows(t, fn.Code, found.Rows)
	case name == safepoint && bytes.HasPrefix(fn.Code, pushRBX) && elf.Machine(t.Machine) == elf.EM_X86_64:
		return nil
	case jumpedTo[name] && !found.Returns:
		return nil
	}
	return found.Rows
}
