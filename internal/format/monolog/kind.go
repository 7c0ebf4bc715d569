package monolog

import "fmt"

// A Type is the low half of an event's first byte.
type Type uint8

// The types, with the versions that have them.
const (
	TypeAlloc     Type = 0
	TypeGC        Type = 1
	TypeMetadata  Type = 2
	TypeMethod    Type = 3
	TypeException Type = 4
	TypeMonitor   Type = 5
	TypeHeap      Type = 6
	TypeSample    Type = 7  // from 4 on
	TypeRuntime   Type = 8  // from 8 on
	TypeCoverage  Type = 9  // 10 to 15
	TypeMeta      Type = 10 // from 13 on
)

var typeNames = [...]string{"alloc", "gc", "metadata", "method", "exception", "monitor", "heap", "sample", "runtime", "coverage", "meta"}

// String returns the type's name, in small letters.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// A Kind says what an event is: what its type, its exinfo and, for metadata, its mtype mean together.
type Kind uint8

// The kinds. Event says which fields each sets.
const (
	KindNone Kind = iota

	KindAlloc // an object was allocated

	KindGCEvent             // a collection reached a point
	KindGCResize            // the heap has a new size
	KindGCMove              // objects were moved
	KindHandleCreated       // a GC handle
	KindHandleDestroyed     // a GC handle
	KindFinalizeStart       // finalizers begin to run
	KindFinalizeEnd         // they have run
	KindFinalizeObjectStart // the finalizer of an object begins
	KindFinalizeObjectEnd   // it has run

	KindClass    // a class was loaded, or, by Load, is on the way in or out
	KindImage    // the same of an image
	KindAssembly // an assembly
	KindDomain   // an appdomain; with LoadName it is named
	KindThread   // a thread; with LoadName it is named
	KindContext  // a remoting context
	KindVTable   // a vtable

	KindLeave    // a method returned
	KindEnter    // a method was entered
	KindExcLeave // a method was left by an exception
	KindJIT      // a method was compiled, or found compiled in an AOT image

	KindThrow  // an exception was thrown
	KindClause // a clause runs because of one

	KindMonitor // a lock was contended, taken, or not taken

	KindHeapStart      // a heap shot begins
	KindHeapEnd        // and ends
	KindHeapObject     // an object of it
	KindHeapRoots      // roots of it
	KindRootRegister   // memory became a root
	KindRootUnregister // and is none any more

	KindSampleHit    // Mono's own sampling
	KindSymbol       // a symbol of native code
	KindBinary       // a native binary in memory
	KindCounterDescs // counters are described
	KindCounters     // counters have new values

	KindJITHelper // the runtime made code: a trampoline, a helper

	KindCoverageAssembly
	KindCoverageMethod
	KindCoverageStatement
	KindCoverageClass

	KindSyncPoint // all buffers up to here are written
	KindAOTID     // of the AOT configuration

	kinds = iota
)

var kindNames = [kinds]string{
	"none", "alloc", "gc event", "gc resize", "gc move", "gc handle created", "gc handle destroyed",
	"gc finalize start", "gc finalize end", "gc finalize object start", "gc finalize object end",
	"class", "image", "assembly", "domain", "thread", "context", "vtable",
	"method leave", "method enter", "method exc leave", "method jit", "exception throw", "exception clause", "monitor",
	"heap start", "heap end", "heap object", "heap roots", "heap root register", "heap root unregister",
	"sample hit", "sample usym", "sample ubin", "sample counters desc", "sample counters", "jit helper",
	"coverage assembly", "coverage method", "coverage statement", "coverage class", "sync point", "aot id",
}

// String returns the kind's name, in small letters.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// A Load says what happened to metadata: exinfo of their events, without LoadError.
type Load uint8

// What happens to metadata. From version 11 on only LoadName, LoadEnd and UnloadEnd are written.
const (
	LoadName    Load = 0 // the thing got a name
	LoadStart   Load = 1
	LoadEnd     Load = 2
	UnloadStart Load = 3
	UnloadEnd   Load = 4
)

// LoadError in Info of metadata, before version 11: loading failed. Mono never wrote it.
const LoadError = 8

// These values of Event.Helper say what a KindJITHelper is for, as versions from 14 on number it. Earlier
// versions count from 1; the reader subtracts that.
const (
	HelperMethod             = 0
	HelperMethodTrampoline   = 1
	HelperUnboxTrampoline    = 2
	HelperIMTTrampoline      = 3
	HelperGenericsTrampoline = 4
	HelperSpecificTrampoline = 5 // with a name
	HelperHelper             = 6
	HelperMonitor            = 7
	HelperDelegateInvoke     = 8
	HelperExceptionHandling  = 9
	HelperUnknown            = ^uint64(0) // 0 in versions 8 to 13
)
