package codebytes

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// ProvideAll gives each dump without code the files with its code, and adds findings about files that
// were of no use.
func (c *Files) ProvideAll(dumps []*model.Dump, opts *config.Options) (found report.Findings) {
	for _, d := range dumps {
		c.Provide(d, opts, &found)
	}
	c.Report(&found)
	return found
}

// Provide gives a dump without code the memory of its process. The files of Options.CodeFrom come
// first, in their order, and mapped files last. Dumps with all of their code are left alone.
func (c *Files) Provide(d *model.Dump, opts *config.Options, found *report.Findings) {
	var codeFrom func([]source.CodeSource, source.CodeWorld) (late []int)
	switch s := d.Source.(type) {
	case source.WithoutCode:
		codeFrom = s.CodeFrom
	case source.LackingCode:
		if s.LacksCode() {
			codeFrom = s.FillCode
		}
	}
	if codeFrom == nil || c == nil {
		return
	}
	c.asked = true
	var sources []source.CodeSource
	maps := c.Rec.FileMapsOf(d.PID, LastTime(d))
	for _, f := range c.Files {
		var mem jitcode.Memory
		var note string
		var err error
		if whole := f.Memory(); whole != nil {
			if note, err = c.MatchDump(f, d, maps); err == nil {
				mem = executableOf(whole)
			}
		} else {
			mem, note, err = imagesOf(c.Rec, f, d.PID, maps)
		}
		if note != "" {
			found.Note(quote.Printable(f.Path) + ": " + note)
		}
		if err != nil {
			f.why = err.Error()
			opts.Logf(2, "%s: not of process %d: %v", quote.Printable(f.Path), d.PID, err)
			continue
		}
		f.used = true
		opts.Logf(1, "%s: code of process %d", quote.Printable(f.Path), d.PID)
		sources = append(sources, source.CodeSource{Memory: mem, Snapshot: f.image == nil})
	}
	mapped := &mappedFiles{rec: c.Rec, maps: maps, line: lineOf(maps)}
	c.mapped = append(c.mapped, mapped)
	d.CodeFiles = len(sources)
	late := codeFrom(append(sources, source.CodeSource{Memory: mapped}), codeWorld(d, maps))
	for i, first := 0, true; i < len(sources); i++ {
		if sources[i].Snapshot && (first || late[i] < d.Late) {
			d.Late, first = late[i], false
		}
	}
}

// codeWorld returns what the recording says about the memory of a dump's process. maps are the
// executable mappings of that.
func codeWorld(d *model.Dump, maps []recording.FileMap) source.CodeWorld {
	memory := slices.DeleteFunc(slices.Clone(maps), func(m recording.FileMap) bool { return m.Name != "" })
	line := lineOf(memory)
	files := recording.ExactRanges(maps, func(m *recording.FileMap) bool { return m.Name != "" && !strings.HasPrefix(m.Name, "[") })
	return source.CodeWorld{
		Skip:   func(function int) bool { return d.Unmapped[function] },
		InFile: files.Hold,
		Mapped: func(addr, since uint64) bool {
			return !d.HasTimes() || mappedAfter(memory, line, addr, d.Clock(since))
		},
	}
}

// mappedAfter reports whether an address was mapped after a time. maps are in the order of their
// times.
func mappedAfter(maps []recording.FileMap, line *addrs.Timeline, addr, time uint64) bool {
	from := sort.Search(len(maps), func(i int) bool { return maps[i].Time > time })
	return line.First(addrs.Range{Lo: addr, Hi: addr + 1}, from, len(maps)) >= 0
}

// Report adds findings about the files that were of no use, with the reason. A running process may have
// been named in case it is needed, as by jitinject record.
func (c *Files) Report(found *report.Findings) {
	for _, f := range c.Files {
		switch {
		case f.used, f.tail, f.idle != 0: // package diagnose reports idle ones when samples are counted
		case f.Core != nil && len(f.Core.Problems) > 0:
			found.Problem(damage(f))
		case !c.asked && f.image == nil:
			if _, _, err := Owner(c.Rec, f); err != nil {
				found.Problem(stranger(f, err))
			} else if f.Live == nil {
				found.Note(fmt.Sprintf("%s: not needed: no dump without code was found, and its process has registered no code for debuggers", quote.Printable(f.Path)))
			}
		case !c.asked:
			found.Note(fmt.Sprintf("%s: not needed: no dump without code was found", quote.Printable(f.Path)))
		default:
			found.Problem(report.Problem{Code: report.ProblemNoCode, File: f.Path, Offset: -1, Text: f.why + "; no code is taken from it", Advice: "name a core dump of the process that was recorded"})
		}
	}
}

// damage returns the problem of a core with damaged headers or notes. gcore writes the notes last, so a
// core of it that was cut off has none.
func damage(f *File) report.Problem {
	p := report.Problem{Code: report.ProblemNoCode, File: f.Path, Offset: -1, Advice: "make another core dump, with room for all of it"}
	how := "damaged"
	if f.cut > 0 {
		p.Offset, how = f.cut, fmt.Sprintf("cut off at offset %#x of %#x", f.cut, f.Core.End())
	}
	p.Text = fmt.Sprintf("the core dump is %s: its process or its mapped files are unknown (%v), so nothing is read from it", how, f.Core.Problems[0])
	return p
}

// stranger returns the problem of a core or a running process that is not in the recording.
func stranger(f *File, err error) report.Problem {
	p := report.Problem{Code: report.ProblemNoCode, File: f.Path, Offset: -1, Text: err.Error() + "; nothing is read from it", Advice: "name a core dump of the process that was recorded"}
	if f.Live != nil {
		p.Advice = "record again, and inject while the process runs, or make a core dump of it then (gcore PID)"
	}
	return p
}

// BringsCode reports whether a dump has the bytes of its functions.
func BringsCode(d *model.Dump) bool {
	_, codeless := d.Source.(source.WithoutCode)
	return !codeless
}

// LastTime returns the time of the dump's last event, by the recording's clock.
func LastTime(d *model.Dump) (time uint64) {
	for i := range d.Source.Scanned().Events {
		time = max(time, d.Clock(d.Source.Scanned().Events[i].Time))
	}
	return time
}
