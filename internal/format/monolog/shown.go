package monolog

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
