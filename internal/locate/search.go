package locate

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A find is a file that may be the dump of a reference, and how it was found. It is opened when it is
// judged, unless it is open.
type find struct {
	path  string
	place string // in words
	how   evidence
	file  *sys.File
	err   error // why it cannot be opened

	option config.SideFile // that names it
	side   *SideFile       // of a format's own search
}

// An evidence says how a file was found. Later ones count more.
type evidence int

const (
	byName    evidence = iota // it has the name in the marker
	byMarker                  // it has the path in the marker
	byMapping                 // the process maps it
	byOption                  // the user names it
	byContent                 // its format has found the process that it is of
)

// isCertain reports whether it leaves no question whose dump the file is.
func (e evidence) isCertain() bool { return e >= byMapping }

const (
	// recordedPlace is the best place: where the dump was when it was recorded.
	recordedPlace = "where it was recorded"
	// mappedPlace is the place of a file that a process maps.
	mappedPlace = "mapped by the process"
)

// Search returns the files that may be the dump of a reference, those of the best places first. The
// places are where the dump was recorded, the running process, also when it ran, the directory of the
// recording, and the given directories.
func (f *Finder) Search(r *Reference) []find {
	if m := &r.Markers[0]; m.Place != "" {
		return []find{{place: m.Place, how: byContent, side: f.given[m.Path]}}
	}
	if n, ok := r.named(f.Opts.Named(config.AnyDump)); ok {
		return []find{{path: n.Path, place: "named with " + report.MentionedFile(config.AnyDump, "", ""), how: byOption, option: n}}
	}
	finds := []find{{path: r.Path, place: recordedPlace, how: byMarker}}
	live, err := liveFiles(f.Rec, r)
	if err != nil {
		finds = append(finds, find{path: r.Path, err: err})
	}
	finds = append(append(finds, live...), f.held.take(r)...)
	base := filepath.Base(r.Path)
	finds = append(finds, find{path: filepath.Join(f.Rec.In.Dir, base), place: "beside the recording"})
	for _, dir := range f.DirsWith(base) {
		finds = append(finds, find{path: filepath.Join(dir, base), place: "in " + quote.Printable(filepath.Clean(dir))})
	}
	return finds
}

// sideFile returns the file of a find, open. s is nil if there is none, or if it cannot be used: then
// that is a refusal of the reference. The error is of a file that the user names.
func (f *Finder) sideFile(r *Reference, at *find) (s *SideFile, err error) {
	if at.side != nil {
		return at.side, nil
	}
	file, err := at.file, at.err
	if file == nil && err == nil {
		file, err = safefile.Open(at.path)
		if at.how == byOption {
			err = safefile.PlainError(err)
		} else if safefile.IsAbsent(err) {
			return nil, nil
		}
	}
	if err == nil {
		s, err = f.SideFile(file, at.path)
	}
	switch {
	case err == nil:
		return s, nil
	case at.how == byOption:
		return nil, fmt.Errorf("%s: %w", at.option, err)
	}
	r.unusable(at.path, err)
	return nil, nil
}

// checked returns the problem of a file with contents that do not fit.
func (f *Finder) checked(path string, pid uint32, err error) report.Problem {
	if errors.As(err, new(clock.Unknown)) {
		path = f.Rec.In.Path
	}
	return report.ProblemOf(path, err, report.AdviceNamed(pid, err))
}

// maxMissing bounds the missing dumps that are reported one by one.
const maxMissing = 10

func adviceMissing() string {
	return "if you have it, name its directory with " + report.Mentioned("DumpDirs", "")
}

// missing returns the problem of a reference without any file.
func (f *Finder) missing(r *Reference) report.Problem {
	var dirs []string
	for _, dir := range append([]string{f.Rec.In.Dir}, f.Opts.DumpDirs...) {
		if dir = filepath.Clean(dir); dir == "." {
			dir = "the current directory"
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	own, pid := "", r.Markers[0].PID
	if f.Rec.InContainer(pid) {
		own = ", a path in a container,"
	}
	return report.Problem{Code: report.ProblemNoDump, Offset: -1, Text: fmt.Sprintf("process %d: its dump %s%s is gone: neither there nor in %s",
		pid, quote.Printable(r.Markers[0].Path), own, quote.Printable(strings.Join(dirs, ", "))), Advice: adviceMissing()}
}
