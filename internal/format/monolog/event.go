package monolog

// An Event is one event of a log. Which fields it sets depends on Kind; all
// others are zero. What it refers to is valid until the reader's next call.
//
// Addresses are sums of a base and what the file holds, modulo 2^64, or modulo
// 2^32 if pointers have four bytes. Objects are addresses in bytes, though files hold
// them divided by 8.
//
//	alloc                 Class or VTable, Object, Size, Frames
//	gc event              Sub (what), Generation
//	gc resize             Size
//	gc move               Moves
//	gc handle created     Sub (its type), Handle, Object, Frames
//	gc handle destroyed   Sub, Handle, Frames
//	gc finalize object …  Object
//	class                 Load, Pointer, Image, Name
//	image                 Load, Pointer, Name, MVID
//	assembly              Load, Pointer, Image, Name
//	domain, thread        Load, Pointer, Name
//	context               Load, Pointer, Domain
//	vtable                Load, Pointer, Domain, Class
//	method enter, leave, exc leave   Method
//	method jit            Method, Code, Size, Name
//	exception throw       Object, Frames
//	exception clause      Sub (finally, catch …), Index, Method, Object
//	monitor               Sub, Object, Frames
//	heap object           Object, Class or VTable, Size, Generation, Refs
//	heap roots            Roots, Collection
//	heap root register    Pointer, Size, Sub (source), Key, Name
//	heap root unregister  Pointer
//	sample hit            Sub (its type), Thread, IPs, Frames, FrameOffsets
//	sample usym           Pointer, Size, Name
//	sample ubin           Pointer, FileOffset, Size, Name
//	sample counters desc  CounterDescs
//	sample counters       Elapsed, Counters
//	jit helper            Sub (see HelperMethod …), Code, Size, Name
//	coverage …            Texts, Numbers
//	sync point            Sub
//	aot id                Name
type Event struct {
	Offset int64  // of its first byte in the unpacked log
	Length int64  // in bytes
	Time   uint64 // nanoseconds; of an event without a time, that of the one before it
	Method uint64 // MonoMethod*
	Code   uint64 // address of native code; 0 if the log does not tell
	Size   uint64 // bytes; version 1 writes those of 2 GiB and more sign-extended
	Name   []byte // without its NUL; may have any bytes

	Type Type
	Info byte // exinfo, the upper half of the first byte: 0 to 15
	Kind Kind
	Load Load

	// What only rarer events have.
	Sub        uint64 // what exactly, numbered by Mono
	Pointer    uint64 // what is loaded, or the start of what is described
	Class      uint64 // MonoClass*
	VTable     uint64 // MonoVTable*: from version 15 on, in place of Class
	Image      uint64 // MonoImage*
	Domain     uint64 // the domain's number, as if it were an address; Pointer of domains and contexts is one, too
	Object     uint64
	Thread     uint64 // pthread_self; from version 11 on
	Handle     uint64
	Index      uint64 // of a clause in its method
	Generation uint64
	Collection uint64 // number of the collection, before version 15
	Key        uint64
	FileOffset uint64
	Elapsed    uint64 // milliseconds since the start, before version 13

	MVID []byte // version 16 on; may be empty

	// Lists hold at most MaxList things; Dropped says how many more there were.
	Frames       []uint64      // methods, in the order of the file: outermost first, but in samples innermost first
	FrameOffsets []FrameOffset // of Frames, in samples of versions 6 to 12
	IPs          []uint64
	Moves        []Move
	Refs         []Ref
	Roots        []Root
	CounterDescs []CounterDesc
	Counters     []Counter
	Texts        [][]byte // of coverage, in the order of the file
	Numbers      []uint64 // of coverage, in the order of the file
	Dropped      uint64
}

// MaxList is how many things a list of an event holds at most. Mono writes far fewer.
const MaxList = 1 << 16

// A Move tells that an object was moved.
type Move struct {
	From uint64 `show:"from,addr"`
	To   uint64 `show:"to,addr"`
}

// A Ref is a reference of an object to another.
type Ref struct {
	Offset uint64 `show:"field,since:2"` // of the field in the object, in bytes; from version 2 on
	Object uint64 `show:"object,addr"`
}

// A Root keeps an object alive.
type Root struct {
	Address uint64 `show:"addr,addr,since:15"` // from version 15 on
	Object  uint64 `show:"object,addr"`
	Type    uint64 `show:"root_type,hex,until:14"` // before version 15
	Extra   uint64 `show:"extra,hex,until:14"`     // before version 15
}

// A FrameOffset says where in a method a frame is.
type FrameOffset struct{ IL, Native int64 }

// A CounterDesc describes a counter.
type CounterDesc struct {
	Index       uint64 `show:"index"`
	Name        []byte `show:"name,name"`
	Section     uint64 `show:"section,hex"`
	SectionName []byte `show:"section_name,opt"` // of section 0x8000, Windows' performance counters
	Type        uint64 `show:"counter_type,names:int|uint|word|long|ulong|double|string|time interval"`
	Unit        uint64 `show:"unit,hex"` // raw 0, bytes 1<<24, times of 100 ns 2<<24, count 3<<24, percentage 4<<24; 13 and 14 have the low byte
	Variance    uint64 `show:"variance,hex"`
}

// A Counter is a new value of one. Integers are what was added since the value before.
type Counter struct {
	Index uint64 `show:"index,known"`
	Type  uint64 `show:"counter_type,names:int|uint|word|long|ulong|double|string|time interval"`
	Value uint64 // by type: an integer, sign-extended; or the bits of a double
	Text  []byte // of a string, nil for none
}

// clear makes the event a fresh one but keeps the memory of its lists.
func (e *Event) clear() {
	*e = Event{
		Frames: e.Frames[:0], FrameOffsets: e.FrameOffsets[:0], IPs: e.IPs[:0], Moves: e.Moves[:0], Refs: e.Refs[:0], Roots: e.Roots[:0],
		CounterDescs: e.CounterDescs[:0], Counters: e.Counters[:0], Texts: e.Texts[:0], Numbers: e.Numbers[:0],
	}
}
