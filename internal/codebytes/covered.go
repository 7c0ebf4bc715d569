package codebytes

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
)

// A coveringFile is a file that is mapped over functions of a dump, by its name.
type coveringFile struct {
	dump *model.Dump
	name string
}

// coveredFunctions are functions that a file is mapped over and that are not mapped again.
type coveredFunctions struct {
	why    error // why their code cannot be compared with the file; nil if it has other code
	places []coveredPlace
}

// A coveredPlace is the part of a function that a file is mapped over, from a time on.
type coveredPlace struct {
	addrs.Range
	pid  uint32
	time uint64
}

// Covered compares functions with the files that are mapped over them.
type Covered struct {
	rec     *recording.Recording
	readers map[*model.Dump]source.FunctionReader
	covered map[coveringFile]*coveredFunctions

	// name and build id of the open file; it is nil if err says why it cannot be read
	name, id string
	file     *sys.File
	same     bool // it is the file that was mapped
	err      error
	known    map[[2]string]bool // same, by name and build id
}

// NewCovered returns a Covered without functions.
func NewCovered(rec *recording.Recording) *Covered {
	return &Covered{rec: rec, readers: make(map[*model.Dump]source.FunctionReader), covered: make(map[coveringFile]*coveredFunctions), known: make(map[[2]string]bool)}
}

// Compare reports whether a file has the code of a function where it is mapped over m, a mapping of
// that. If not, [Covered.Report] has it.
func (c *Covered) Compare(d *model.Dump, function int, m *model.Mapping, f *recording.FileMap) bool {
	same, why := c.compare(d, function, m, f)
	if !same {
		c.add(d, m, f, why)
	}
	return same
}

// compare is Compare. why is nil if the file has other code, or else the reason why it is unknown.
func (c *Covered) compare(d *model.Dump, function int, m *model.Mapping, f *recording.FileMap) (same bool, why error) {
	r := c.readers[d]
	if r == nil {
		r = d.Inspector()
		c.readers[d] = r
	}
	fn, err := r.Function(function)
	r.TakeProblems() // building reads them again
	if err != nil || !fn.HasCode() {
		return false, cmp.Or(err, errors.New("the dump lacks their bytes"))
	}
	if c.open(m.PID, f); c.err != nil {
		return false, c.err
	}
	lo, hi := max(m.Addr, f.Lo), min(m.Addr+m.Len, f.Hi)
	size := uint64(len(fn.Code))
	code := fn.Code[min(lo-m.Addr, size):min(hi-m.Addr, size)]
	there := make([]byte, len(code))
	if _, err := c.file.ReadAt(there, int64(lo-f.Lo+f.Off)); err == nil && bytes.Equal(code, there) {
		return true, nil
	}
	if !c.same {
		return false, errors.New("the file has changed since")
	}
	return false, nil
}

// open opens the file of a mapping, unless it is open. Its content is proof enough, so it may be
// another file than the one that was mapped.
func (c *Covered) open(pid uint32, f *recording.FileMap) {
	if c.name == f.Name && c.id == f.BuildID {
		return
	}
	c.close()
	c.name, c.id = f.Name, f.BuildID
	if c.file, c.same, c.err = c.rec.OpenMapped(f, c.known); c.err == nil {
		return
	}
	if c.err = safefile.PlainError(safefile.WithoutPath(c.err)); c.rec.InContainer(pid) {
		c.err = errors.New("it is a file of a container")
	}
}

// close closes the open file.
func (c *Covered) close() {
	if c.file != nil {
		c.file.Close()
	}
	c.file, c.name = nil, ""
}

// add records that a file is mapped over a function. why is as in compare.
func (c *Covered) add(d *model.Dump, m *model.Mapping, f *recording.FileMap, why error) {
	key := coveringFile{d, f.Name}
	of := c.covered[key]
	if of == nil {
		of = &coveredFunctions{why: why}
		c.covered[key] = of
	}
	of.why = cmp.Or(of.why, why)
	of.places = append(of.places, coveredPlace{addrs.Range{Lo: max(m.Addr, f.Lo), Hi: min(m.Addr+m.Len, f.Hi)}, m.PID, f.Time})
}

// Report closes the open file. It adds a finding for each file that is mapped over functions, if
// samples may be in it there.
func (c *Covered) Report(found *report.Findings) {
	c.close()
	byName := func(a, b coveringFile) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.dump.Number, b.dump.Number))
	}
	for _, key := range sorting.Sorted(maps.Keys(c.covered), byName) {
		of := c.covered[key]
		if !c.sampled(of.places) {
			continue
		}
		text := fmt.Sprintf("%d functions", len(of.places))
		if len(of.places) == 1 {
			text = "1 function"
		}
		text = fmt.Sprintf("it was mapped over %s of %s", text, quote.Printable(key.dump.Path))
		if of.why == nil {
			found.Note(fmt.Sprintf("%s: %s; it has other code, so samples there have its name from then on", quote.Printable(key.name), text))
			continue
		}
		found.Problem(report.Problem{Code: report.ProblemNoCode, File: key.name, Offset: -1,
			Text:   fmt.Sprintf("%s; whether it has their code is unknown (%v), so samples there have its name from then on", text, of.why),
			Advice: "inject where the file is as it was recorded"})
	}
}

// sampled reports whether samples may be at places since their times.
func (c *Covered) sampled(places []coveredPlace) bool {
	if c.rec.Histogram == nil || c.rec.Histogram.Over {
		return true
	}
	ranges := make([]addrs.Range, len(places))
	for i := range places {
		ranges[i] = places[i].Range
	}
	line := addrs.NewTimeline(ranges)
	for i := range c.rec.Histogram.Slots {
		s := &c.rec.Histogram.Slots[i]
		here := addrs.Range{Lo: s.IP, Hi: s.IP + 1}
		for at := line.First(here, 0, len(places)); s.N > 0 && at >= 0; at = line.First(here, at+1, len(places)) {
			if p := &places[at]; p.pid == s.PID && s.Last >= p.time {
				return true
			}
		}
	}
	return false
}
