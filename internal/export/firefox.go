package export

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/profile"
)

// firefoxVersion is the version of the processed profile format. The profiler upgrades older files
// and refuses newer ones. 56 is the first with one table of strings; later versions make all tables
// shared, which could not be written thread by thread.
const firefoxVersion = 56

// writeFirefox writes the processed profile of the Firefox Profiler, gzipped. See
// https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md.
//
// A thread of a recording with several events is a thread for each event. The threads are in the
// order of their processes; the process with the most samples is first, and in it the main thread.
// Samples count 1, as the profiler counts those of Firefox. If the event is a clock, the periods are
// the processor time between samples, which shows when a thread was idle.
func writeFirefox(w *bufio.Writer, p *profile.Profile, options Options) error {
	zip := gzip.NewWriter(w)
	f := &firefoxWriter{
		jsonWriter: &jsonWriter{Writer: bufio.NewWriterSize(zip, 1<<16)},
		p:          p,
		merged:     p.Merge(false),
		local:      newLocalTables(p),
	}
	f.numberObjects()
	f.setTimes()
	all := byProcess(p, divide(p))
	f.raw(`{"meta":{`)
	f.meta(all, options)
	f.raw("},\n\"libs\":[")
	for i, object := range f.libraries.list {
		f.separate(i)
		f.library(object)
	}
	f.raw("],\n\"threads\":[")
	mains := make(map[uint32]bool)
	several := len(usedEvents(p)) > 1
	for i, s := range all {
		f.separate(i)
		f.thread(s, mains, several)
	}
	f.raw("],\n\"shared\":{\"stringArray\":[")
	for i, s := range f.strings.list {
		f.separate(i)
		f.quote(s)
	}
	f.raw("]}}\n")
	if err := f.Flush(); err != nil {
		return err
	}
	return zip.Close()
}

// A firefoxWriter writes one file.
type firefoxWriter struct {
	*jsonWriter
	p         *profile.Profile
	merged    profile.Merged
	strings   table[string]
	libraries table[string] // paths of objects
	first     uint64        // time of the first sample
	duration  uint64        // from the first sample to the last
	interval  uint64        // nanoseconds between two samples of a running thread
	timeless  bool          // the recording has no times: samples follow each other by the interval
	local     localTables
}

// separate writes the comma before an element of an array.
func (f *firefoxWriter) separate(index int) {
	if index > 0 {
		f.raw(",\n")
	}
}

// numberObjects gives each object with a symbol an index. Those of JIT code follow the others:
// there may be thousands.
func (f *firefoxWriter) numberObjects() {
	for _, jit := range []bool{false, true} {
		for _, function := range f.merged.First {
			symbol := &f.p.Functions[function]
			object := symbol.KnownObject()
			if object != "" && (symbol.Kind == profile.JIT) == jit {
				f.libraries.at(object)
			}
		}
	}
}

// setTimes decides where the profile begins, and the interval: that of the frequency, or else of
// the usual period of a clock, or a millisecond.
func (f *firefoxWriter) setTimes() {
	first, last := span(f.p)
	f.first, f.duration = first, last-first
	f.interval = 1e6
	event := busiestEvent(f.p)
	switch {
	case f.p.Recording.Frequency > 0:
		f.interval = max(1, 1e9/f.p.Recording.Frequency)
	case isClock(f.p.Events[event]):
		f.interval = usualPeriod(f.p, event)
	}
	f.timeless = f.duration == 0 && len(f.p.Samples) > 1
	if f.timeless {
		f.duration = f.interval * uint64(len(f.p.Samples))
	}
}

// meta writes what the profile says about itself and the machine.
func (f *firefoxWriter) meta(all []series, options Options) {
	r := &f.p.Recording
	member := func(name, value string) {
		f.quote(name)
		f.raw(":")
		f.quote(value)
		f.raw(",")
	}
	f.raw(`"version":29,"preprocessedProfileVersion":` + strconv.Itoa(firefoxVersion) + `,"interval":`)
	f.milliseconds(f.interval)
	f.raw(`,"startTime":`)
	f.milliseconds(uint64(max(0, recordedAt(r))))
	f.raw(`,"profilingStartTime":0,"profilingEndTime":`)
	f.milliseconds(f.duration + f.interval) // a sample at the end itself would be outside
	f.raw(`,"processType":0,"stackwalk":1,"debug":false,"symbolicated":true,"symbolicationNotSupported":true,` +
		`"usesOnlyOneStackType":true,"sourceCodeIsNotOnSearchfox":true,"keepProfileThreadOrder":true,` +
		`"markerSchema":[],"sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"},`)
	member("product", title(r))
	member("importedFrom", cmp.Or(options.Program, "perf"))
	member("platform", "Linux")
	member("oscpu", strings.TrimSpace("Linux "+text(r.Kernel)+" "+text(r.Arch)))
	if r.CPU != "" {
		member("CPUName", r.CPU)
	}
	if r.Command != "" {
		member("arguments", r.Command)
	}
	f.raw(`"initialSelectedThreads":[` + strconv.Itoa(busiest(all)) + `],` + "\n")
	f.categories()
	f.raw(`,"extra":[{"label":"Recording","entries":[`)
	for i, fact := range factsOf(r, options) {
		f.separate(i)
		f.raw(`{"label":`)
		f.quote(fact.label)
		f.raw(`,"format":"string","value":`)
		f.quote(fact.text)
		f.raw("}")
	}
	f.raw("]}]")
}

// library writes an object. The profiler asks no server for symbols, so there are no build ids.
func (f *firefoxWriter) library(object string) {
	f.raw("{")
	for _, name := range []string{"name", "debugName"} {
		f.raw(`"` + name + `":`)
		f.quote(objectName(object))
		f.raw(",")
	}
	for _, name := range []string{"path", "debugPath"} {
		f.raw(`"` + name + `":`)
		f.quote(object)
		f.raw(",")
	}
	f.raw(`"arch":`)
	f.quote(f.p.Recording.Arch)
	f.raw(`,"breakpadId":"","codeId":null}`)
}

// thread writes a series. mains has the processes whose main thread is written.
func (f *firefoxWriter) thread(s series, mains map[uint32]bool, several bool) {
	thread, event := &f.p.Threads[s.thread], f.p.Events[s.event]
	name := threadName(thread)
	if several {
		name += " " + event
	}
	main := thread.PID == thread.TID && !mains[thread.PID]
	if main {
		mains[thread.PID] = true
	}
	f.raw(`{"processType":"default","processStartupTime":0,"processShutdownTime":null,"registerTime":0,"unregisterTime":null,"pausedRanges":[],"name":`)
	f.quote(name)
	f.raw(`,"processName":`)
	f.quote(text(cmp.Or(thread.Process, thread.Name, fmt.Sprint(thread.PID))))
	fmt.Fprintf(f, `,"isMainThread":%t,"pid":"%d","tid":%d,`+"\n", main, thread.PID, thread.TID)
	f.samples(s, event)
	f.raw(",\n\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[],\"length\":0},\n")
	f.tables()
	f.raw("}")
}

// samples writes the samples of a series, and fills the local tables with their stacks.
func (f *firefoxWriter) samples(s series, event string) {
	f.local.reset()
	stacks := make([]int, len(s.samples))
	for i, sample := range s.samples {
		stacks[i] = f.addStack(stackOf(f.p, sample))
	}
	f.raw(`"samples":{"stack":`)
	f.integers(stacks)
	f.raw(`,"time":[`)
	for i, sample := range s.samples {
		if i > 0 {
			f.raw(",")
		}
		if f.timeless {
			f.milliseconds(uint64(i) * f.interval)
			continue
		}
		f.milliseconds(f.p.Samples[sample].Time - f.first)
	}
	f.raw("]")
	if isClock(event) {
		f.raw(`,"threadCPUDelta":[`)
		for i, sample := range s.samples {
			if i > 0 {
				f.raw(",")
			}
			f.unsigned(weight(&f.p.Samples[sample]))
		}
		f.raw("]")
	}
	f.raw(`,"weight":null,"weightType":"samples","length":`)
	f.integer(len(stacks))
	f.raw("}")
}

// byProcess puts the series of a process side by side: the process with the most samples first,
// and in it the main thread. all has those with the most samples first.
func byProcess(p *profile.Profile, all []series) []series {
	counts := make(map[uint32]int)
	for _, s := range all {
		counts[p.Threads[s.thread].PID] += len(s.samples)
	}
	ordered := slices.Clone(all)
	slices.SortStableFunc(ordered, func(a, b series) int {
		x, y := &p.Threads[a.thread], &p.Threads[b.thread]
		if x.PID != y.PID {
			return cmp.Or(cmp.Compare(counts[y.PID], counts[x.PID]), cmp.Compare(x.PID, y.PID))
		}
		switch isMain := y.TID == y.PID; {
		case (x.TID == x.PID) == isMain:
			return 0
		case isMain:
			return 1
		}
		return -1
	})
	return ordered
}

// busiest is the index of the series with the most samples.
func busiest(all []series) (index int) {
	for i, s := range all {
		if len(s.samples) > len(all[index].samples) {
			index = i
		}
	}
	return index
}
