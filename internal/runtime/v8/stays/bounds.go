package stays

import "slices"

// The times of a log count from the beginning of its isolate, which is not in the log. Everything that is known of
// the process bounds it: no code is older than the memory that it lies in, nor younger than a sample in it; no
// sample is in code when other code has come over that; and the log was not written after the end of its process.
// If nothing is between the bounds, the log is of another run. A dump with the same functions tells the beginning exactly.

// Bounds are the earliest and the latest time of the recording at which an isolate may have begun, in
// nanoseconds.
type Bounds struct{ Lo, Hi int64 }

// IsEmpty reports whether no time is possible: the isolate is of another run.
func (b Bounds) IsEmpty() bool { return b.Lo > b.Hi }

// Width returns how far the bounds are apart, in nanoseconds.
func (b Bounds) Width() int64 { return b.Hi - b.Lo }

// impossible are the bounds of an isolate of another run.
var impossible = Bounds{1, 0}

// maxDrift is the inverse of how much faster or slower than CLOCK_MONOTONIC the recording's clock may be. NTP
// corrects up to 500 ppm.
const maxDrift = 2000

// precision is the unit of a log's times, in nanoseconds: they are cut off.
const precision = 1000

// Bound sets the bounds of the isolates of a log of the process. others are all its logs, and dumped are the functions of
// its dumps. written is the time of the last write to the log, or Never.
func (f *Life) Bound(l *Log, written int64, others []*Log, dumped *Loads) {
	var covers []*cover
	if dumped != nil {
		covers = append(covers, dumped.cover)
	}
	for _, o := range others {
		covers = append(covers, f.covers(o)...)
	}
	l.Offsets = f.bound(l, written, covers)
	if dumped != nil {
		dumped.begin(l)
	}
}

// Excludes reports whether a log cannot be of the process by its times.
func (f *Life) Excludes(l *Log, written int64) bool {
	return !slices.ContainsFunc(f.bound(l, written, f.covers(l)), func(b Bounds) bool { return !b.IsEmpty() })
}

// bound returns the bounds of the isolates of a log, without the times of dumps. all are the covers of the process, with
// those of the log.
func (f *Life) bound(l *Log, written int64, all []*cover) []Bounds {
	of := make([]Bounds, len(l.Ends))
	for i := range of {
		end := int64(min(l.Ends[i], never))
		of[i] = Bounds{int64(f.start), min(f.end, written) - end + f.drift(l.Ends[i])}
	}
	for i := range l.Stays {
		s := &l.Stays[i]
		c := &l.Codes[s.Code]
		if !f.known || s.To == never || !f.holds(c, s.Addr) {
			continue
		}
		if k := f.mapped(s.Addr); k >= 0 && f.maps[k].Time >= f.start {
			b := &of[c.Isolate]
			b.Lo = max(b.Lo, int64(f.maps[k].Time)-int64(s.To)-precision-f.drift(s.To))
		}
	}
	for i, own := range f.onlyCovers(all) {
		if own == nil || own.log != l {
			continue
		}
		b, at := &of[own.isolate], &f.samples[i]
		if s := &l.Stays[ownerAt(&own.first, at.ip)]; l.Codes[s.Code].Prompt {
			b.Hi = min(b.Hi, at.first-int64(s.From)+f.drift(s.From))
		}
		if end, ok := own.ends[ownerAt(&own.last, at.ip)]; ok && end < never {
			b.Lo = max(b.Lo, at.last-int64(end)-precision-f.drift(end))
		}
	}
	return of
}

// maxWindow is how far the difference of the times of equal functions in a log and a dump may vary, in
// nanoseconds, and usual how far it does: V8 writes to both within 60 µs, but a thread may be stopped between.
// fewPairs is the number of equal functions that prove the difference, and outliers the share of others, as its
// inverse.
const (
	maxWindow = 2e6
	usual     = 50e3
	fewPairs  = 3
	outliers  = 10
)

// exactly returns the beginning of an isolate by the differences of times of functions that a dump has, too. ok
// is false if they are too few, or do not agree.
func exactly(differences []int64) (b Bounds, ok bool) {
	slices.Sort(differences)
	near := mostWithin(differences, maxWindow)
	if len(near) < fewPairs || (len(differences)-len(near))*outliers > len(differences) {
		return impossible, false
	}
	near = mostWithin(near, usual)
	return Bounds{near[0], near[len(near)-1] + precision}, true
}

// mostWithin returns the most values that are within a width, of sorted ones.
func mostWithin(sorted []int64, width int64) (most []int64) {
	first := 0
	for i, v := range sorted {
		for v-sorted[first] > width {
			first++
		}
		if i+1-first > len(most) {
			most = sorted[first : i+1]
		}
	}
	return most
}
