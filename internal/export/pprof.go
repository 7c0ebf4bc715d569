package export

import (
	"bufio"
	"fmt"
	"path"
	"slices"
	"strings"

	pprof "github.com/google/pprof/profile"

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
		functions: make([]*pprof.Function, len(p.Functions)),
		locations: make(map[string]*pprof.Location),
		byStack:   make(map[int]pprofGroup),
		mappings:  make(map[string]*pprof.Mapping),
	}
	first, last := span(p)
	main := busiestEvent(p)
	b.out.TimeNanos = recordedAt(&p.Recording)
	b.out.DurationNanos = int64(last - first)
	b.out.PeriodType = &pprof.ValueType{Type: text(p.Events[main]), Unit: unit(p.Events[main])}
	if isClock(p.Events[main]) || p.Recording.Frequency == 0 {
		b.out.Period = int64(usualPeriod(p, main))
	}
	b.out.DefaultSampleType = text(p.Events[main])
	for _, fact := range factsOf(&p.Recording, options) {
		b.out.Comments = append(b.out.Comments, fact.label+": "+fact.text)
	}
	b.mapping(mainObject(p)) // pprof takes the first for the program
	if err := b.addSamples(); err != nil {
		return err
	}
	return b.out.Write(w)
}

func unit(event string) string {
	if isClock(event) {
		return "nanoseconds"
	}
	return "count"
}

// A pprofBuilder makes the profile of pprof.
type pprofBuilder struct {
	p         *profile.Profile
	out       pprof.Profile
	mappings  map[string]*pprof.Mapping  // by object
	functions []*pprof.Function          // by index of the function; nil if not met yet
	locations map[string]*pprof.Location // by the frames of the location
	byStack   map[int]pprofGroup         // by the innermost stack of a location
	key       []byte                     // a buffer
}

// A pprofGroup is a location and the stack that called it, -1 for none.
type pprofGroup struct {
	location *pprof.Location
	caller   int
}

// maxValues bounds the numbers in all samples of a recording of several events.
const maxValues = 4 << 20

// addSamples adds the samples, in the order in which they are met.
func (b *pprofBuilder) addSamples() error {
	events := usedEvents(b.p)
	column := make(map[int]int, len(events))
	b.out.SampleType = []*pprof.ValueType{{Type: "samples", Unit: "count"}}
	for _, e := range events {
		column[e] = len(b.out.SampleType)
		b.out.SampleType = append(b.out.SampleType, &pprof.ValueType{Type: text(b.p.Events[e]), Unit: unit(b.p.Events[e])})
	}
	type key struct{ thread, event, stack int }
	known := make(map[key]*pprof.Sample)
	for i := range b.p.Samples {
		s := &b.p.Samples[i]
		k := key{s.Thread, s.Event, stackOf(b.p, i)}
		sample := known[k]
		if sample == nil {
			if len(events) > 1 && len(known)*len(events) > maxValues {
				return fmt.Errorf("a file of pprof has a number for each of the %d events with each of its samples, which are too many; choose another format", len(events))
			}
			thread := &b.p.Threads[s.Thread]
			sample = &pprof.Sample{
				Value:    make([]int64, len(b.out.SampleType)),
				Label:    map[string][]string{"comm": {threadName(thread)}, "event": {text(b.p.Events[s.Event])}},
				NumLabel: map[string][]int64{"pid": {int64(thread.PID)}, "tid": {int64(thread.TID)}},
			}
			for stack := k.stack; stack >= 0; {
				group := b.group(stack)
				sample.Location = append(sample.Location, group.location)
				stack = group.caller
			}
			known[k] = sample
			b.out.Sample = append(b.out.Sample, sample)
		}
		sample.Value[0]++
		sample.Value[column[s.Event]] += int64(weight(s))
	}
	return nil
}

// group returns the location that a stack ends with: its innermost frame, and those that it was
// inlined into.
func (b *pprofBuilder) group(stack int) pprofGroup {
	if group, ok := b.byStack[stack]; ok {
		return group
	}
	b.key = b.key[:0]
	var lines []pprof.Line
	caller := stack
	var frame *profile.Frame
	for {
		s := b.p.Stacks[caller]
		frame = &b.p.Frames[s.Frame]
		b.key = appendIndex(b.key, s.Frame)
		lines = append(lines, pprof.Line{Function: b.function(frame.Function), Line: int64(max(0, frame.Line))})
		caller = s.Caller
		if !frame.Inlined || caller < 0 {
			break
		}
	}
	location := b.locations[string(b.key)]
	if location == nil {
		location = &pprof.Location{
			ID:      uint64(len(b.out.Location) + 1),
			Address: frame.Addr,
			Mapping: b.mapping(b.p.Functions[frame.Function].KnownObject()),
			Line:    lines,
		}
		b.locations[string(b.key)] = location
		b.out.Location = append(b.out.Location, location)
	}
	group := pprofGroup{location, caller}
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

// function returns a function of pprof, which is added if it is new.
func (b *pprofBuilder) function(index int) *pprof.Function {
	if b.functions[index] == nil {
		f := &b.p.Functions[index]
		b.functions[index] = &pprof.Function{
			ID:         uint64(len(b.out.Function) + 1),
			Name:       functionName(f),
			SystemName: text(f.Symbol),
			Filename:   text(f.File),
			StartLine:  int64(max(0, f.Line)),
		}
		b.out.Function = append(b.out.Function, b.functions[index])
	}
	return b.functions[index]
}

// mapping returns the mapping of an object, which is added if it is new. It is nil for "". The real
// mappings are unknown, so these have no addresses, and readers do not try to symbolize them.
func (b *pprofBuilder) mapping(object string) *pprof.Mapping {
	m := b.mappings[object]
	if m == nil && object != "" {
		m = &pprof.Mapping{ID: uint64(len(b.mappings) + 1), File: text(object), HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
		b.mappings[object] = m
		b.out.Mapping = append(b.out.Mapping, m)
	}
	return m
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
