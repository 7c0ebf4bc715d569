package gdbjit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/format/gdbjit"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit/registered"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// maxReported bounds the faults of one process's list that are reported one by one.
const maxReported = 5

// Find reads the registered objects in the cores and processes that the user names, and makes markers
// for their processes. A process that has registered nothing costs no message. The error is ctx's.
func Find(ctx context.Context, f *locate.Finder, found *report.Findings) error {
	if f.Code == nil {
		return nil
	}
	for _, file := range f.Code.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if file.Memory() != nil {
			findIn(f, file, found)
		}
	}
	return nil
}

// findIn reads the registered objects of a core or a process.
func findIn(f *locate.Finder, file *codebytes.File, found *report.Findings) {
	p := processOf(file)
	places := registered.Find(p)
	r, err := registered.Read(p, places)
	if err == nil {
		err = p.Failed
	}
	if err == nil && file.Live != nil {
		err = file.Live.Refresh() // it may have mapped memory for code since it was opened
	}
	if len(places) == 0 && err == nil {
		return
	}
	if err != nil {
		file.Use()
		found.Problem(report.ProblemOf(file.Path, fmt.Errorf("the code that it has registered for debuggers is not used: %w", err),
			"make a core dump of it while it runs (gcore PID), and name that with "+report.Mentioned("CodeFrom", "FILE")))
		return
	}
	for _, place := range r.Places {
		f.Opts.Logf(2, "%s: %s of %s is at %#x, found %s", quote.Printable(file.Path), gdbjit.Symbol, quote.Printable(place.File), place.Addr, place.How)
	}
	pid, note, err := codebytes.Owner(f.Rec, file)
	dumped := err == nil && slices.ContainsFunc(f.Rec.Markers, func(m recording.Marker) bool { return m.PID == pid })
	reportFaults(file.Path, r, dumped, found)
	if len(r.Objects) > 0 || len(r.Problems) > 0 {
		file.Use()
	}
	if len(r.Objects)+len(r.Problems) == 0 && err == nil {
		file.SetIdle(pid)
	}
	if len(r.Objects) == 0 {
		return
	}
	if err != nil {
		found.Problem(report.Problem{Code: report.ProblemUnused, File: file.Path, Offset: -1, Text: fmt.Sprintf("%v; the code that it has registered for debuggers (%s) is not used", err, report.Counted(len(r.Objects), "object")),
			Advice: "name a core dump of the process that was recorded"})
		return
	}
	if r.Repeated > 0 {
		found.Note(fmt.Sprintf("%s: of the entries in its list of registered objects, %d name an object that another one names; it counts once", quote.Printable(file.Path), r.Repeated))
	}
	if note != "" {
		found.Note(quote.Printable(file.Path) + ": " + note)
	}
	if err := mark(f, file, p, r, pid, found); err != nil {
		found.Problem(report.ProblemOf(file.Path, err, ""))
	}
}

// processOf returns a core or a process as package registered needs it.
func processOf(file *codebytes.File) *registered.Process {
	p := &registered.Process{Memory: file.Memory(), Live: file.Live != nil}
	p.Class, p.Order, p.Machine = file.Target()
	p.Open = func(name string) registered.File {
		if file.Live != nil && name == file.Live.Program() {
			name = procmem.Dir(uint32(file.Live.PID())) + "/exe" // another one in a container, or gone
		}
		opened, err := sys.Open(name)
		if err != nil {
			if recording.IsFailure(err) && !errors.Is(err, fs.ErrPermission) { // it may be a name of another machine
				p.Failed = err
			}
			return nil
		}
		file.Reads(opened)
		return opened
	}
	return p
}

// reportFaults adds problems for faults of the lists and objects. They are notes if the process wrote a
// dump: that names its functions, and objects only add to it.
func reportFaults(path string, r *registered.Registered, dumped bool, found *report.Findings) {
	faults := r.Problems
	for i := range r.Objects {
		opened, err := r.Objects[i].Open()
		problems := []error{err}
		if err == nil {
			problems = opened.Problems()
		}
		for _, err := range problems {
			faults = append(faults, fmt.Errorf("object at %#x: %w", r.Objects[i].Symfile, err))
		}
	}
	advice := adviceVerify(path)
	if slices.ContainsFunc(faults, func(err error) bool { return errors.Is(err, gdbjit.ErrCycle) }) {
		advice = adviceCycle(path)
	}
	for i, err := range faults {
		text := err.Error()
		if i == maxReported {
			text = fmt.Sprintf("%d more faults of registered objects", len(faults)-maxReported)
		}
		p := report.Problem{Code: report.ProblemDamage, File: path, Offset: -1, Text: text, Advice: advice}
		if dumped {
			found.Note(p.String())
		} else {
			found.Problem(p)
		}
		if i == maxReported {
			break
		}
	}
}

// mark makes a dump of the objects of a process, and its marker.
func mark(f *locate.Finder, file *codebytes.File, p *registered.Process, r *registered.Registered, pid uint32, found *report.Findings) error {
	path, place := file.Path, "named with "+report.MentionedPath("CodeFrom", file.Path)
	if file.Live != nil {
		path, place = file.Path+"/mem", "named with "+report.Mentioned("Live", fmt.Sprint(pid))
	}
	opened, err := sys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	info, err := opened.Stat()
	if err != nil {
		opened.Close()
		return err
	}
	d := newObjects(p, r, path, uint32(info.Mode().Perm()))
	files := recording.ExactRanges(f.Rec.FileMapsOf(pid, recording.LatestTime), func(m *recording.FileMap) bool { return m.Name != "" })
	d.dropIn(files)
	if d.Lost.Total() > 0 {
		d.reportLost(path, found)
	}
	if len(d.functions) == 0 {
		return opened.Close()
	}
	s := &locate.SideFile{Path: path, File: opened, Info: info, Source: d, Scanned: true, Taken: true}
	f.AddFile(s)
	f.Mark(recording.Marker{PID: pid, Time: f.Rec.ProgramStart(pid, 0), Path: path, Pos: -1, Place: place}, s)
	return nil
}

// Identify returns false: the objects are in memory, and a core dump is no side file.
func Identify(io.ReaderAt, string) bool { return false }
