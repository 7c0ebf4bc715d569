package locate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/source"
)

// A Finder looks for the files of dumps. It opens and scans each file once, for all references.
type Finder struct {
	Rec     *recording.Recording
	Opts    *config.Options
	Formats []Format
	// Code has the memories that the user names. It may be nil.
	Code *codebytes.Files
	held *Held
	// Files are all files that are open.
	Files []*SideFile
	// Left has the files of formats without a marker that belong to no process.
	Left    Left
	Subdirs [][]string           // names of the directories in each of Opts.DumpDirs
	given   map[string]*SideFile // files of markers with a place, by path
	// Unreadable has the problems of Unread.
	Unreadable report.Findings
	byInode    map[Inode]*SideFile // all of Files
}

// Mark adds a marker that the recording does not have. s is the file of its dump.
func (f *Finder) Mark(m recording.Marker, s *SideFile) {
	if f.given == nil {
		f.given = make(map[string]*SideFile)
	}
	f.given[m.Path], s.Taken = s, true
	f.Rec.Markers = append(f.Rec.Markers, m)
}

// Registered returns the dumps of the code that a process had registered when its memory was read. all
// reports whether the process has no other dump so far, found or missing. It may have more code, which
// it does not register.
func (f *Finder) Registered(pid uint32) (dumps []source.Dump, all bool) {
	all = true
	for _, m := range f.Rec.Markers {
		if m.PID != pid {
			continue
		}
		if s := f.given[m.Path]; m.Place != "" && s != nil && s.Source.Traits().Registered {
			dumps = append(dumps, s.Source)
		} else {
			all = false
		}
	}
	return dumps, all && len(dumps) > 0
}

// A SideFile is a file that may be a dump of the recording.
type SideFile struct {
	Path   string // where it was found first
	live   bool   // the path vanishes with its process
	File   *sys.File
	Info   os.FileInfo
	Source source.Dump
	tail   *tail // nil without one

	// Scanned says that the source has been scanned.
	Scanned  bool
	assigned bool // it is assigned, or it is known to be ambiguous
	Taken    bool // it is the dump of a reference
}

// A candidate is a file that may be the dump of a reference.
type candidate struct {
	*SideFile
	place      string // where it was found, in words
	recorded   bool   // it, or a shorter copy, was found where it was recorded
	Confidence recording.Confidence
	err        error // why it is refuted, or nil
}

// recordedPlace is the best place: where the dump was when it was recorded.
const recordedPlace = "where it was recorded"

// Search collects the candidates of a reference, those of the best places first. The places are
// where the dump was recorded, the running process, also when it ran, the directory of the recording,
// and the given directories. The error is ctx's, or of options that cannot be followed.
func (f *Finder) Search(ctx context.Context, c *Reference) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m := &c.Markers[0]; m.Place != "" {
		return f.offer(ctx, c, f.given[m.Path], m.Place, recording.Certain)
	}
	if n, ok := c.named(f.Opts.Named(config.AnyDump)); ok {
		file, err := safefile.Open(n.Path)
		if err != nil {
			return fmt.Errorf("%s: %w", n, safefile.PlainError(err))
		}
		s, err := f.SideFile(file, n.Path)
		if err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
		return f.offer(ctx, c, s, "named with "+report.MentionedFile(config.AnyDump, "", ""), recording.Certain)
	}
	if err := f.probe(ctx, c, c.Path, recordedPlace); err != nil {
		return err
	}
	live, err := liveFiles(f.Rec, c)
	if err != nil {
		c.unusable(c.Path, err)
	}
	live = append(live, f.held.take(c)...)
	for i, l := range live {
		if err := f.Candidate(ctx, c, l.file, l.path, l.place, l.confidence); err != nil {
			for _, l := range live[i+1:] {
				l.file.Close()
			}
			return err
		}
	}
	base := filepath.Base(c.Path)
	if err := f.probe(ctx, c, filepath.Join(f.Rec.In.Dir, base), "beside the recording"); err != nil {
		return err
	}
	for i, dir := range f.Opts.DumpDirs {
		for _, sub := range append([]string{""}, f.Subdirs[i]...) {
			if err := f.probe(ctx, c, filepath.Join(dir, sub, base), "in "+quote.Printable(filepath.Join(dir, sub))); err != nil {
				return err
			}
		}
	}
	return nil
}

// probe adds the file at a path, if there is one, as a candidate. A file that cannot be opened
// becomes a refusal.
func (f *Finder) probe(ctx context.Context, c *Reference, path, place string) error {
	file, err := safefile.Open(path)
	if safefile.IsAbsent(err) {
		return nil
	}
	if err != nil {
		c.unusable(path, err)
		return nil
	}
	return f.Candidate(ctx, c, file, path, place, recording.Possible)
}

// Candidate adds an open file as a candidate of a reference, if its contents allow it. Otherwise
// it adds a refusal. It takes over file.
func (f *Finder) Candidate(ctx context.Context, c *Reference, file *sys.File, path, place string, known recording.Confidence) error {
	s, err := f.SideFile(file, path)
	if err != nil {
		c.unusable(path, err)
		return nil
	}
	return f.offer(ctx, c, s, place, known)
}

// offer adds an open side file as a candidate. A file that cannot be the dump becomes a refusal.
func (f *Finder) offer(ctx context.Context, c *Reference, s *SideFile, place string, known recording.Confidence) error {
	path := s.Path
	if i := slices.IndexFunc(c.Candidates, func(old *candidate) bool { return old.SideFile == s }); i >= 0 {
		if known != recording.Certain || c.Candidates[i].Confidence == recording.Certain {
			return nil
		}
		c.Candidates = slices.Delete(c.Candidates, i, i+1)
		place = mappedPlace
	}
	if known != recording.Certain && !c.numbered(s.Source.PID()) {
		err := fmt.Errorf("it says that it is of process %d; was it overwritten by another run?", s.Source.PID())
		c.unusable(path, err)
		return nil
	}
	if err := f.Scan(ctx, s); err != nil {
		return err
	}
	cand := &candidate{SideFile: s, place: place, recorded: path == c.Path, Confidence: known}
	at, shorter := c.shorterCopy(cand)
	cand.recorded = cand.recorded || shorter != nil && shorter.recorded
	if known != recording.Certain {
		d := c.dumpOf(s)
		if _, cand.err = clock.Match(d, f.Rec, f.Opts.Clock); cand.err == nil {
			cand.Confidence, cand.err = f.fits(d, s)
		}
		if shorter != nil {
			cand.Confidence, cand.err = max(cand.Confidence, shorter.Confidence), nil
		}
		if cand.err != nil {
			cand.Confidence = recording.Refuted
			c.refusals = append(c.refusals, refusal{f.checked(s.Path, d.PID, cand.err), s})
		}
	}
	c.Candidates = slices.Insert(c.Candidates, at, cand)
	return nil
}

// Scan scans a file, unless that has been done.
func (f *Finder) Scan(ctx context.Context, s *SideFile) error {
	if s.Scanned {
		return nil
	}
	f.Opts.Progress.Begin(report.PhaseScan, s.Info.Size())
	s.Source.Scanned().Watch = f.Opts.Progress.Set
	if err := s.Source.Scan(ctx); err != nil {
		return err
	}
	s.Scanned = true
	return nil
}

// checked returns the problem of a file with contents that do not fit.
func (f *Finder) checked(path string, pid uint32, err error) report.Problem {
	otherwise := report.AdviceNamed(pid, err)
	if errors.As(err, new(clock.Unknown)) {
		path = f.Rec.In.Path
	}
	return report.ProblemOf(path, err, otherwise)
}

// SideFile returns the side file of an open file. It closes file if the same file is open
// already, or on failure.
func (f *Finder) SideFile(file *sys.File, path string) (*SideFile, error) {
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	if s := f.byInode[InodeOf(info)]; s != nil {
		file.Close()
		if s.live && !isLive(path) {
			s.Path, s.live = path, false
		}
		return s, nil
	}
	contents, tail := f.withTail(file, info)
	src, err := f.open(contents)
	if err != nil && file.Failed() != nil { // it may have any format
		err = file.Failed()
	}
	if err != nil {
		file.Close()
		return nil, dumpAdvice(err)
	}
	src.SetMachine(source.Machine{Name: f.Rec.Machine, Order: f.Rec.In.Order, Narrow: f.Rec.IsNarrow})
	for _, format := range f.Formats {
		if format.Prepare != nil {
			format.Prepare(src, f.Opts)
		}
	}
	s := &SideFile{Path: path, live: isLive(path), File: file, Info: info, Source: src, tail: tail}
	f.AddFile(s)
	return s, nil
}

// AddFile adds an open side file.
func (f *Finder) AddFile(s *SideFile) {
	s.live = isLive(s.Path)
	if f.byInode == nil {
		f.byInode = make(map[Inode]*SideFile)
	}
	if id := InodeOf(s.Info); f.byInode[id] == nil {
		f.byInode[id] = s
	}
	f.Files = append(f.Files, s)
}

// An Inode identifies a file, as long as that is open.
type Inode struct{ device, number uint64 }

// InodeOf returns the inode of a file. info is from a Stat of this system.
func InodeOf(info os.FileInfo) Inode {
	st := info.Sys().(*syscall.Stat_t)
	return Inode{uint64(st.Dev), st.Ino}
}

// MaxSubdirs bounds how many directories in one of DumpDirs are searched.
const MaxSubdirs = 1000

// CheckDirs fails if one of opts.DumpDirs is no directory.
func CheckDirs(opts *config.Options) error {
	for _, dir := range opts.DumpDirs {
		if st, err := sys.Stat(dir); err != nil && !safefile.IsAbsent(err) {
			return fmt.Errorf("%s: cannot read it: %w", report.MentionedPath("DumpDirs", dir), safefile.WithoutPath(err))
		} else if err != nil || !st.IsDir() {
			return fmt.Errorf("%s: there is no such directory", report.MentionedPath("DumpDirs", dir))
		}
	}
	return nil
}

// ListDirs lists the directories in each of DumpDirs: dumps of containers have equal names, so
// users keep them in directories of their own. Its error is that of CheckDirs.
func (f *Finder) ListDirs() error {
	if err := CheckDirs(f.Opts); err != nil {
		return err
	}
	for _, dir := range f.Opts.DumpDirs {
		var subdirs []string
		// A directory that cannot be listed may still have a file of a known name.
		entries, err := f.Rec.In.List(dir)
		f.Unread(dir, err)
		for _, e := range entries {
			if e.IsDir() && len(subdirs) < MaxSubdirs {
				subdirs = append(subdirs, e.Name())
			}
		}
		f.Subdirs = append(f.Subdirs, subdirs)
	}
	return nil
}

// Missing returns the problem of a reference without any file.
func (f *Finder) Missing(c *Reference) report.Problem {
	var dirs []string
	for _, dir := range append([]string{f.Rec.In.Dir}, f.Opts.DumpDirs...) {
		if dir = filepath.Clean(dir); dir == "." {
			dir = "the current directory"
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	own := ""
	if f.Rec.InContainer(c.Markers[0].PID) {
		own = ", a path in a container,"
	}
	return report.Problem{Code: report.ProblemNoDump, Offset: -1, Text: fmt.Sprintf("process %d: its dump %s%s is gone: neither there nor in %s",
		c.Markers[0].PID, quote.Printable(c.Markers[0].Path), own, quote.Printable(strings.Join(dirs, ", "))), Advice: "if you have it, name its directory with " + report.Mentioned("DumpDirs", "")}
}

// CloseOthers closes the files that are not of these dumps.
func (f *Finder) CloseOthers(dumps []*model.Dump) {
	used := make(map[*sys.File]bool)
	for _, d := range dumps {
		used[d.File] = true
	}
	for _, s := range f.Files {
		if !used[s.File] {
			s.File.Close()
		}
	}
}
