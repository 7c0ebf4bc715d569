package export

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/profile"
)

// writePprof writes the gzipped protocol buffer of pprof. See
// https://github.com/google/pprof/blob/main/proto/profile.proto.
//
// Samples with the same stack, thread and event are one. Its values are their number, and the sum
// of the periods of each event; the event with the most samples is shown first. Labels have the
// thread and the event: go tool pprof -tagroot comm, -tagfocus.
//
// A location is an address with its inlined calls, innermost first.
func writePprof(w *bufio.Writer, p *profile.Profile, options Options) error {
	b := &pprofBuilder{
		p:         p,
		strings:   make(map[string]uint64),
		functions: make([]uint64, len(p.Functions)),
		locations: make(map[string]uint64),
		byStack:   make(map[int]pprofGroup),
		mappings:  make(map[string]uint64),
	}
	b.text("") // the first, which absent texts are
	first, last := span(p)
	main := busiestEvent(p)
	b.out.number(fieldTime, uint64(recordedAt(&p.Recording)))
	b.out.number(fieldDuration, last-first)
	b.out.bytes(fieldPeriodType, b.valueType(text(p.Events[main]), unit(p.Events[main])))
	if isClock(p.Events[main]) || p.Recording.Frequency == 0 {
		b.out.number(fieldPeriod, usualPeriod(p, main))
	}
	b.out.number(fieldDefaultType, b.text(text(p.Events[main])))
	for _, fact := range factsOf(&p.Recording, options) {
		b.out.number(fieldComment, b.text(fact.label+": "+fact.text))
	}
	b.mapping(mainObject(p)) // pprof takes the first for the program
	if err := b.addSamples(); err != nil {
		return err
	}
	zw := gzip.NewWriter(w)
	if _, err := zw.Write(b.out); err != nil {
		return err
	}
	return zw.Close()
}

// Fields of a profile.
const (
	fieldSampleType  = 1
	fieldSample      = 2
	fieldMapping     = 3
	fieldLocation    = 4
	fieldFunction    = 5
	fieldString      = 6
	fieldTime        = 9
	fieldDuration    = 10
	fieldPeriodType  = 11
	fieldPeriod      = 12
	fieldComment     = 13
	fieldDefaultType = 14
)

func unit(event string) string {
	if isClock(event) {
		return "nanoseconds"
	}
	return "count"
}

// A pprofBuilder makes the profile of pprof. Identifiers begin with 1; 0 is none.
type pprofBuilder struct {
	p         *profile.Profile
	out       message
	strings   map[string]uint64  // numbers of texts, which begin with 0
	mappings  map[string]uint64  // identifiers by object
	functions []uint64           // identifiers by index of the function; 0 if not met yet
	known     uint64             // the number of functions met
	locations map[string]uint64  // identifiers by the frames of the location
	byStack   map[int]pprofGroup // by the innermost stack of a location
	key       []byte             // a buffer
}

// A pprofGroup is a location and the stack that called it, -1 for none.
type pprofGroup struct {
	location uint64
	caller   int
}

// text returns the number of a text, which is added if it is new.
func (b *pprofBuilder) text(s string) uint64 {
	n, ok := b.strings[s]
	if !ok {
		n = uint64(len(b.strings))
		b.strings[s] = n
		b.out.bytes(fieldString, []byte(s))
	}
	return n
}

func (b *pprofBuilder) valueType(name, unit string) (m message) {
	m.number(1, b.text(name))
	m.number(2, b.text(unit))
	return m
}

// maxValues bounds the numbers in all samples of a recording of several events.
const maxValues = 4 << 20

// addSamples adds the samples, in the order in which they are met.
func (b *pprofBuilder) addSamples() error {
	events := usedEvents(b.p)
	column := make(map[int]int, len(events))
	b.out.bytes(fieldSampleType, b.valueType("samples", "count"))
	for i, e := range events {
		column[e] = i + 1
		b.out.bytes(fieldSampleType, b.valueType(text(b.p.Events[e]), unit(b.p.Events[e])))
	}
	type key struct{ thread, event, stack int }
	var keys []key
	values := make(map[key][]uint64)
	for i := range b.p.Samples {
		s := &b.p.Samples[i]
		k := key{s.Thread, s.Event, stackOf(b.p, i)}
		if values[k] == nil {
			if len(events) > 1 && len(keys)*len(events) > maxValues {
				return fmt.Errorf("a file of pprof has a number for each of the %d events with each of its samples, which are too many; choose another format", len(events))
			}
			values[k] = make([]uint64, len(events)+1)
			keys = append(keys, k)
		}
		values[k][0]++
		values[k][column[s.Event]] += weight(s)
	}
	var sample message
	var locations []uint64
	for _, k := range keys {
		locations = locations[:0]
		for stack := k.stack; stack >= 0; {
			group := b.group(stack)
			locations = append(locations, group.location)
			stack = group.caller
		}
		thread := &b.p.Threads[k.thread]
		sample = sample[:0]
		sample.numbers(1, locations)
		sample.numbers(2, values[k])
		sample.bytes(3, b.label("comm", b.text(threadName(thread)), 0))
		sample.bytes(3, b.label("event", b.text(text(b.p.Events[k.event])), 0))
		sample.bytes(3, b.label("pid", 0, uint64(thread.PID)))
		sample.bytes(3, b.label("tid", 0, uint64(thread.TID)))
		b.out.bytes(fieldSample, sample)
	}
	return nil
}

// label returns a label of a sample: a text, or a number.
func (b *pprofBuilder) label(key string, text, number uint64) (m message) {
	m.number(1, b.text(key))
	m.number(2, text)
	m.number(3, number)
	return m
}

// group returns the location that a stack ends with: its innermost frame, and those that it was
// inlined into.
func (b *pprofBuilder) group(stack int) pprofGroup {
	if group, ok := b.byStack[stack]; ok {
		return group
	}
	b.key = b.key[:0]
	var location message
	caller := stack
	var frame *profile.Frame
	for {
		s := b.p.Stacks[caller]
		frame = &b.p.Frames[s.Frame]
		b.key = appendIndex(b.key, s.Frame)
		var line message
		line.number(1, b.function(frame.Function))
		line.number(2, uint64(max(0, frame.Line)))
		location.bytes(4, line)
		caller = s.Caller
		if !frame.Inlined || caller < 0 {
			break
		}
	}
	id := b.locations[string(b.key)]
	if id == 0 {
		id = uint64(len(b.locations) + 1)
		b.locations[string(b.key)] = id
		location.number(1, id)
		location.number(2, b.mapping(b.p.Functions[frame.Function].KnownObject()))
		location.number(3, frame.Addr)
		b.out.bytes(fieldLocation, location)
	}
	group := pprofGroup{id, caller}
	b.byStack[stack] = group
	return group
}

// appendIndex appends 8 bytes.
func appendIndex(key []byte, index int) []byte {
	for shift := 0; shift < 64; shift += 8 {
		key = append(key, byte(index>>shift))
	}
	return key
}

// function returns the identifier of a function, which is added if it is new.
func (b *pprofBuilder) function(index int) uint64 {
	if b.functions[index] == 0 {
		b.known++
		b.functions[index] = b.known
		f := &b.p.Functions[index]
		var m message
		m.number(1, b.known)
		m.number(2, b.text(functionName(f)))
		m.number(3, b.text(text(f.Symbol)))
		m.number(4, b.text(text(f.File)))
		m.number(5, uint64(max(0, f.Line)))
		b.out.bytes(fieldFunction, m)
	}
	return b.functions[index]
}

// mapping returns the identifier of the mapping of an object, which is added if it is new. It is 0
// for "". The real mappings are unknown, so these have no addresses, and readers do not try to
// symbolize them.
func (b *pprofBuilder) mapping(object string) uint64 {
	id := b.mappings[object]
	if id == 0 && object != "" {
		id = uint64(len(b.mappings) + 1)
		b.mappings[object] = id
		var m message
		m.number(1, id)
		m.number(5, b.text(text(object)))
		for field := 7; field <= 10; field++ { // it has functions, files, lines and inlined frames
			m.number(field, 1)
		}
		b.out.bytes(fieldMapping, m)
	}
	return id
}

// maxComm is the most that the kernel keeps of a process's name.
const maxComm = 15

// mainObject returns the path of the program that was recorded: the file with the name of the
// busiest process, or else with that of a word of the command, or else the first file with native
// code. It returns "" if there is none.
func mainObject(p *profile.Profile) string {
	var natives []string
	seen := make(map[string]bool)
	for i := range p.Functions {
		if f := &p.Functions[i]; f.Kind == profile.Native && f.Object != "" && !strings.HasPrefix(f.Object, "[") && !seen[f.Object] {
			seen[f.Object] = true
			natives = append(natives, f.Object)
		}
	}
	names := make([]string, 0, 8)
	for _, s := range byProcess(p, divide(p)) {
		if name := p.Threads[s.thread].Process; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		if len(names) == cap(names) {
			break
		}
	}
	for word := range strings.FieldsSeq(p.Recording.Command) {
		names = append(names, path.Base(word))
	}
	for _, name := range names {
		for _, object := range natives {
			base := path.Base(object)
			if base == name || len(base) > maxComm && base[:maxComm] == name {
				return object
			}
		}
	}
	if len(natives) > 0 {
		return natives[0]
	}
	return ""
}
