package export

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/sorting"
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
	f := &firefoxWriter{p: p, merged: p.Merge(false), local: newLocalTables(p)}
	f.numberObjects()
	f.setTimes()
	all := byProcess(p, divide(p))
	zip := gzip.NewWriter(w)
	out := bufio.NewWriterSize(zip, 1<<16)
	err := writeObject(out,
		member{name: "meta", value: f.meta(all, options)},
		member{name: "libs", value: mapped(f.libraries.list, f.library)},
		member{name: "threads", values: func(yield func(any) bool) {
			mains := make(map[uint32]bool)
			several := len(usedEvents(p)) > 1
			for _, s := range all {
				if !yield(f.thread(s, mains, several)) {
					return
				}
			}
		}},
		member{name: "shared", value: object{"stringArray": &f.strings.list}}, // which the threads have filled by then
	)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return err
	}
	return zip.Close()
}

// An object is an object of JSON.
type object map[string]any

// A firefoxWriter makes one file.
type firefoxWriter struct {
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

// milliseconds returns nanoseconds as milliseconds: exactly, up to eleven days.
func milliseconds(ns uint64) float64 { return float64(ns) / 1e6 }

// meta returns what the profile says about itself and the machine.
func (f *firefoxWriter) meta(all []series, options Options) object {
	r := &f.p.Recording
	meta := object{
		"version": 29, "preprocessedProfileVersion": firefoxVersion,
		"interval": milliseconds(f.interval), "startTime": milliseconds(uint64(max(0, recordedAt(r)))),
		"profilingStartTime": 0, "profilingEndTime": milliseconds(f.duration + f.interval), // a sample at the end itself would be outside
		"processType": 0, "stackwalk": 1, "debug": false, "symbolicated": true, "symbolicationNotSupported": true,
		"usesOnlyOneStackType": true, "sourceCodeIsNotOnSearchfox": true, "keepProfileThreadOrder": true,
		"markerSchema": []object{}, "sampleUnits": object{"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
		"product": title(r), "importedFrom": cmp.Or(options.Program, "perf"),
		"platform": "Linux", "oscpu": strings.TrimSpace("Linux " + r.Kernel + " " + r.Arch),
		"initialSelectedThreads": []int{busiest(all)}, "categories": firefoxCategories,
		"extra": []object{{"label": "Recording", "entries": mapped(factsOf(r, options), func(f fact) object {
			return object{"label": f.label, "format": "string", "value": f.text}
		})}},
	}
	if r.CPU != "" {
		meta["CPUName"] = r.CPU
	}
	if r.Command != "" {
		meta["arguments"] = r.Command
	}
	return meta
}

// library returns an object. The profiler asks no server for symbols, so there are no build ids.
func (f *firefoxWriter) library(path string) object {
	name := objectName(path)
	return object{"name": name, "debugName": name, "path": path, "debugPath": path, "arch": f.p.Recording.Arch, "breakpadId": "", "codeId": nil}
}

// thread returns a series. mains has the processes whose main thread is written.
func (f *firefoxWriter) thread(s series, mains map[uint32]bool, several bool) object {
	thread, event := &f.p.Threads[s.thread], f.p.Events[s.event]
	name := threadName(thread)
	if several {
		name += " " + event
	}
	main := thread.PID == thread.TID && !mains[thread.PID]
	if main {
		mains[thread.PID] = true
	}
	out := object{
		"processType": "default", "processStartupTime": 0, "processShutdownTime": nil, "registerTime": 0, "unregisterTime": nil, "pausedRanges": []int{},
		"name": name, "processName": cmp.Or(thread.Process, thread.Name, fmt.Sprint(thread.PID)),
		"isMainThread": main, "pid": fmt.Sprint(thread.PID), "tid": thread.TID,
		"samples": f.samples(s, event),
		"markers": object{"data": []int{}, "name": []int{}, "startTime": []int{}, "endTime": []int{}, "phase": []int{}, "category": []int{}, "length": 0},
	}
	f.addTables(out)
	return out
}

// samples returns the samples of a series, and fills the local tables with their stacks.
func (f *firefoxWriter) samples(s series, event string) object {
	f.local.reset()
	times := make([]float64, len(s.samples))
	for i, sample := range s.samples {
		if times[i] = milliseconds(f.p.Samples[sample].Time - f.first); f.timeless {
			times[i] = milliseconds(uint64(i) * f.interval)
		}
	}
	samples := object{
		"stack": mapped(s.samples, func(sample int) int { return f.addStack(stackOf(f.p, sample)) }), "time": times,
		"weight": nil, "weightType": "samples", "length": len(times),
	}
	if isClock(event) {
		samples["threadCPUDelta"] = mapped(s.samples, func(sample int) uint64 { return weight(&f.p.Samples[sample]) })
	}
	return samples
}

// byProcess puts the series of a process side by side: the process with the most samples first,
// and in it the main thread. all has those with the most samples first.
func byProcess(p *profile.Profile, all []series) []series {
	counts := make(map[uint32]int)
	for _, s := range all {
		counts[p.Threads[s.thread].PID] += len(s.samples)
	}
	ordered := slices.Clone(all)
	sorting.Stable(ordered, func(a, b series) int {
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
