package monolog

// Shown has the fields of events, by their kind, for programs that print them: each with its key, the
// field of Event, and how its value is written, as [show.Fields] has it. Names of numbers are those
// of mprof-report, where that has some.
var Shown = [kinds][]string{
	KindAlloc: {object, vtable, class, "object_size=Size"},

	KindGCEvent: {
		"event=Sub,names:start|mark start|mark end|reclaim start|reclaim end|end|pre stop|post stop|pre start|post start|pre stop lock|post start unlock",
		"generation=Generation",
	},
	KindGCResize:            {"heap_size=Size"},
	KindGCMove:              {"moves=Moves"},
	KindHandleCreated:       {handleType, "handle=Handle", "object=Object,addr"},
	KindHandleDestroyed:     {handleType, "handle=Handle"},
	KindFinalizeObjectStart: {"object=Object,addr"},
	KindFinalizeObjectEnd:   {"object=Object,addr"},

	KindClass:    {load, loadError, "class=Pointer,addr", "image=Image,hex", name},
	KindImage:    {load, loadError, "image=Pointer,addr", name, "mvid=MVID,opt"},
	KindAssembly: {load, loadError, "assembly=Pointer,addr", "image=Image,hex,since:14", name},
	KindDomain:   {load, loadError, "domain=Pointer,addr", name},
	KindThread:   {load, loadError, "thread=Pointer,addr", name},
	KindContext:  {load, loadError, "context=Pointer,addr", "domain=Domain,hex", name},
	KindVTable:   {load, loadError, "vtable=Pointer,addr", "domain=Domain,hex", "class=Class,addr,known"},

	KindEnter:    {method},
	KindLeave:    {method},
	KindExcLeave: {method},
	KindJIT:      {"method=Method,addr", "code_addr=Code,addr:Size", "code_size=Size", "name=Name,name"},

	KindThrow:   {"object=Object,addr"},
	KindClause:  {"clause=Sub,names:catch|filter|finally||fault", "index=Index", method, "object=Object,addr,opt"},
	KindMonitor: {"event=Sub,names:|contended|acquired|not taken", "object=Object,addr"},

	KindHeapObject: {object, vtable, class, "object_size=Size", "generation=Generation,since:16", "references=Refs"},
	KindHeapRoots:  {"collection=Collection,until:14", "roots=Roots"},
	KindRootRegister: {
		"addr=Pointer,addr:Size", "root_size=Size",
		"source=Sub,names:external|stack|finalizer queue|static fields|thread static|context static|GC handle|JIT|threading|domain|reflection|marshal|thread pool|debugger|handle|ephemeron|toggleref",
		"key=Key,hex", "name=Name,name",
	},
	KindRootUnregister: {"addr=Pointer,addr"},

	KindSampleHit: {
		"sample_type=Sub,names:|cycles|instructions retired|cache misses|cache references|executed branches|unpredicted branches",
		"thread=Thread,addr", "ips=IPs,addr",
	},
	KindSymbol:       {"addr=Pointer,addr:Size", "symbol_size=Size", "name=Name,name"},
	KindBinary:       {"addr=Pointer,addr:Size", "symbol_size=Size", "file_offset=FileOffset,hex", "name=Name,name"},
	KindCounterDescs: {"counters=CounterDescs"},
	KindCounters:     {"elapsed_ms=Elapsed,opt", "counters=Counters"},

	KindJITHelper: {
		"helper=Sub,names:method|method trampoline|unbox trampoline|imt trampoline|generics trampoline|specific trampoline|misc helper|monitor/lock|delegate invoke|exception handling",
		"code_addr=Code,addr:Size", "code_size=Size", name,
	},

	KindCoverageAssembly:  {texts, numbers},
	KindCoverageMethod:    {texts, numbers},
	KindCoverageStatement: {texts, numbers},
	KindCoverageClass:     {texts, numbers},

	KindSyncPoint: {"kind=Sub,names:periodic|world stop|world start"},
	KindAOTID:     {"name=Name,name"},
}

// Fields of several kinds.
const (
	object     = "object=Object,addr:Size"
	vtable     = "vtable=VTable,addr,known,since:15"
	class      = "class=Class,addr,known,until:14"
	method     = "method=Method,addr,known"
	load       = "load=Load,names:named|loading|loaded|unloading|unloaded"
	loadError  = "error=Info,flag:8,until:10"
	name       = "name=Name,name,opt"
	handleType = "handle_type=Sub,names:weak|weaktrack|normal|pinned"
	texts      = "texts=Texts,name"
	numbers    = "numbers=Numbers,hex"
)
