package profile

import (
	"strings"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/tier"
)

// The tables collect samples. Each distinct thread, function, place and stack is kept once: most
// repeat. Calls that were inlined come later, when all places of a file are known; then build makes the
// frames and the final stacks.
type tables struct {
	rec     *recorded
	profile Profile

	threads   map[threadID]int
	events    map[string]int
	functions map[functionKey]int
	lines     map[string]int // places, by perf's line
	kept      int            // bytes of lines
	places    []place
	placeOf   map[placeKey]int
	stacks    []Stack // with places in place of frames
	stackOf   map[Stack]int

	names      map[string]string // one copy of each name
	key        []byte
	chain      []int // places of the current sample
	unreadable int   // lines of perf script
	simplified int   // places with too many inlined calls
	faults     []string
}

// A functionKey says what makes functions different. Only inlined ones have files and tiers: functions
// of one name in two files are two, and so is the code that two compilers made of one.
type functionKey struct {
	symbol, object, file string
	inlined              bool
	tier                 tier.Tier
}

// A place is an instruction in a function that perf shows.
type place struct {
	placeKey
	calls []call // inlined there, and the function itself, the innermost first; nil if unknown
}

type placeKey struct {
	function int
	addr     uint64 // in the process
	offset   uint64 // in the function's object
}

// A call is a function at a place, or one that was inlined there.
type call struct {
	function, line int
}

func newTables(rec *recorded) *tables {
	t := &tables{
		rec:     rec,
		threads: make(map[threadID]int), events: make(map[string]int), functions: make(map[functionKey]int),
		lines: make(map[string]int), placeOf: make(map[placeKey]int), stackOf: make(map[Stack]int),
		names: make(map[string]string),
	}
	return t
}

// text returns a string, of which only one copy is kept.
func (t *tables) text(b []byte) string {
	if s, ok := t.names[string(b)]; ok {
		return s
	}
	s := string(b)
	t.names[s] = s
	return s
}

func (t *tables) add(s *scriptSample, d dialect) {
	t.chain = t.chain[:0]
	if s.head != nil {
		t.addFrame(s, s.head, d, false)
	}
	for _, line := range s.frames {
		t.addFrame(s, line, d, d.offsets)
	}
	stack := -1
	for i := len(t.chain) - 1; i >= 0; i-- {
		stack = intern(&t.stacks, t.stackOf, Stack{Caller: stack, Frame: t.chain[i]})
	}
	t.profile.Samples = append(t.profile.Samples, Sample{
		Time: s.time, Period: s.period, Stack: stack, Thread: t.thread(threadID{s.pid, s.tid}), Event: t.event(s.event),
	})
}

// intern returns the index of a value in a list, and appends it if it is new.
func intern[T comparable](list *[]T, index map[T]int, value T) int {
	i, ok := index[value]
	if !ok {
		i = len(*list)
		*list = append(*list, value)
		index[value] = i
	}
	return i
}

// Lines are kept to find their places quickly. These bound the length of one and of all, in bytes.
const (
	maxKept      = 1 << 10
	maxKeptLines = 32 << 20
)

func (t *tables) addFrame(s *scriptSample, line []byte, d dialect, offsets bool) {
	t.key = t.key[:0]
	if !d.places { // the address or the place is one of the process
		t.key = append(t.key, byte(s.pid), byte(s.pid>>8), byte(s.pid>>16), byte(s.pid>>24))
	}
	t.key = append(t.key, line...)
	if at, ok := t.lines[string(t.key)]; ok {
		t.chain = append(t.chain, at)
		return
	}
	f, ok := parseFrame(line, d.places, func(name []byte) bool { return t.rec.spaces.names[string(name)] })
	if !ok {
		t.unreadable++
		return
	}
	file := t.text(f.file)
	k := placeKey{addr: f.ip, offset: f.place}
	if !f.hasPlace {
		if offsets && !isKernelAddress(f.ip) {
			k.offset = f.ip
			if addr, ok := t.rec.spaces.addr(s.pid, s.time, file, f.ip); ok {
				k.addr = addr
			}
		} else if offset, ok := t.rec.spaces.offset(s.pid, s.time, file, f.ip); ok {
			k.offset = offset
		}
	}
	k.function = t.function(t.text(f.symbol), file, f.ip)
	at, ok := t.placeOf[k]
	if !ok {
		at = len(t.places)
		t.places = append(t.places, place{placeKey: k})
		t.placeOf[k] = at
	}
	if len(t.key) <= maxKept && t.kept < maxKeptLines {
		t.lines[string(t.key)] = at
		t.kept += len(t.key)
	}
	t.chain = append(t.chain, at)
}

// isKernelAddress reports whether an address is in the kernel's half of a 64-bit address space.
func isKernelAddress(addr uint64) bool { return addr>>63 != 0 }

func (t *tables) function(symbol, file string, ip uint64) int {
	key := functionKey{symbol: symbol, object: file}
	i, ok := t.functions[key]
	if !ok {
		f := Function{Symbol: symbol, Object: file, Kind: t.kind(symbol, file, ip)}
		f.describe()
		i = len(t.profile.Functions)
		t.profile.Functions = append(t.profile.Functions, f)
		t.functions[key] = i
	}
	return i
}

// vsyscall is code of user space in the kernel's half of the address space.
const vsyscall = "[vsyscall]"

func (t *tables) kind(symbol, file string, ip uint64) Kind {
	switch {
	case symbol == unknownSymbol:
		return Unknown
	case strings.HasPrefix(file, "[kernel.") || strings.HasPrefix(file, "[guest.kernel.") || t.rec.kernel[file] || isKernelAddress(ip) && file != vsyscall:
		return Kernel
	case recording.IsObject([]byte(file)) || isMap(file):
		return JIT
	}
	return Native
}

// isMap reports whether a file is the list of jitted functions that a runtime writes for perf.
func isMap(file string) bool {
	_, name, ok := strings.Cut(file, "/tmp/perf-")
	return ok && strings.HasSuffix(name, ".map") && strings.Trim(name, "0123456789") == ".map"
}

func (t *tables) event(name []byte) int {
	i, ok := t.events[string(name)]
	if !ok {
		i = len(t.profile.Events)
		t.events[string(name)] = i
		t.profile.Events = append(t.profile.Events, string(name))
	}
	return i
}

func (t *tables) thread(id threadID) int {
	i, ok := t.threads[id]
	if !ok {
		i = len(t.profile.Threads)
		t.threads[id] = i
		t.profile.Threads = append(t.profile.Threads, Thread{PID: id.pid, TID: id.tid})
	}
	return i
}
