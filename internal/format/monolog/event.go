package monolog

// An Event is one event of a log. Which fields it sets depends on Kind; all
// others are zero. Its Name, MVID and IPs are valid until the reader's next call.
//
// Addresses are sums of a base and what the file holds, modulo 2^64, or modulo
// 2^32 if pointers have four bytes.
//
//	class                 Load, Pointer, Image, Name
//	image                 Load, Pointer, Name, MVID
//	assembly              Load, Pointer, Image, Name
//	domain, thread        Load, Pointer, Name
//	context               Load, Pointer, Domain
//	vtable                Load, Pointer, Domain, Class
//	method enter, leave, exc leave   Method
//	method jit            Method, Code, Size, Name
//	jit helper            Helper, Code, Size, Name
//	exception clause      Method
//	sample hit            IPs
//	aot id                Name
//
// Events of other kinds have none: mprof-report --debug of Mono prints theirs.
type Event struct {
	Offset int64  // of its first byte in the unpacked log
	Length int64  // in bytes
	Time   uint64 // nanoseconds; of an event without a time, that of the one before it
	Method uint64 // MonoMethod*
	Code   uint64 // address of native code; 0 if the log does not tell
	Size   uint64 // bytes
	Name   []byte // without its NUL; may have any bytes

	Type Type
	Info byte // exinfo, the upper half of the first byte: 0 to 15
	Kind Kind
	Load Load

	Helper  uint64   // what the runtime made; see HelperMethod
	Pointer uint64   // what is loaded
	Class   uint64   // MonoClass*
	Image   uint64   // MonoImage*
	Domain  uint64   // the domain's number, as if it were an address; Pointer of domains and contexts is one, too
	MVID    []byte   // version 16 on; may be empty
	IPs     []uint64 // addresses of code, the innermost first; at most MaxIPs
}

// MaxIPs is how many addresses of a sample are kept. Mono writes fewer.
const MaxIPs = 1024

// Shown has the fields of events, by their kind, for programs that print them: each with its key, the
// field of Event, and how its value is written, as [show.Fields] has it. Names of numbers are those
// of mprof-report, where that has some.
var Shown = [kinds][]string{
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

	KindJITHelper: {
		"helper=Helper,names:method|method trampoline|unbox trampoline|imt trampoline|generics trampoline|specific trampoline|misc helper|monitor/lock|delegate invoke|exception handling",
		"code_addr=Code,addr:Size", "code_size=Size", name,
	},

	KindClause:    {method},
	KindSampleHit: {"ips=IPs,addr"},
	KindAOTID:     {name},
}

// Fields of several kinds.
const (
	method    = "method=Method,addr,known"
	load      = "load=Load,names:named|loading|loaded|unloading|unloaded"
	loadError = "error=Info,flag:8,until:10"
	name      = "name=Name,name,opt"
)
