package inject

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/source"
)

// A finder looks for the files of dumps. Each file is opened and scanned once,
// whoever's it may be.
type finder struct {
	rec     *recording
	opts    *Options
	files   []*sideFile
	subdirs [][]string           // in each of opts.DumpDirs
	given   map[string]*sideFile // of markers with a place, by path
}

// mark adds a marker that the recording does not have, for a file that is its dump.
func (f *finder) mark(m marker, s *sideFile) {
	if f.given == nil {
		f.given = make(map[string]*sideFile)
	}
	f.given[m.path], s.taken = s, true
	f.rec.markers = append(f.rec.markers, m)
}

// A sideFile is a file that may be a dump of the recording.
type sideFile struct {
	path   string // where it was found first
	live   bool   // that path is gone when its process is
	file   *os.File
	info   os.FileInfo
	source source.Dump

	scanned bool
	settled bool // whose it is, or that nobody can tell
	taken   bool // it is someone's
}

// A candidate is a file that may be the dump of a claim.
type candidate struct {
	*sideFile
	place      string // where it was found, in words
	recorded   bool   // that is where it was when it was recorded
	confidence confidence
	err        error // why it is refuted
}

// recordedPlace is the best place: where the dump was when it was recorded.
const recordedPlace = "where it was recorded"

// search collects the candidates of a claim, the best places first: where the
// dump was when it was recorded, in the hands of the process, beside the
// recording, in the given directories. The error is ctx's, or of options that
// cannot be followed.
func (f *finder) search(ctx context.Context, c *claim) error {
	if m := &c.markers[0]; m.place != "" {
		return f.offer(ctx, c, f.given[m.path], m.place, certain)
	}
	if n, ok := c.named(f.opts.Dumps); ok {
		file, err := openFile(n.Path)
		if err != nil {
			return fmt.Errorf("--dump %d=%s: %w", n.PID, Printable(n.Path), plainError(err))
		}
		s, err := f.sideFile(file, n.Path)
		if err != nil {
			return fmt.Errorf("--dump %d=%s: %w", n.PID, Printable(n.Path), err)
		}
		return f.offer(ctx, c, s, "named with --dump", certain)
	}
	if err := f.look(ctx, c, c.path, recordedPlace); err != nil {
		return err
	}
	for _, l := range liveFiles(f.rec, c) {
		if err := f.candidate(ctx, c, l.file, l.path, l.place, l.confidence); err != nil {
			return err
		}
	}
	base := filepath.Base(c.path)
	if err := f.look(ctx, c, filepath.Join(f.rec.in.dir, base), "beside the recording"); err != nil {
		return err
	}
	for i, dir := range f.opts.DumpDirs {
		for _, sub := range append([]string{""}, f.subdirs[i]...) {
			if err := f.look(ctx, c, filepath.Join(dir, sub, base), "in "+Printable(filepath.Join(dir, sub))); err != nil {
				return err
			}
		}
	}
	return nil
}

// look looks at one place.
func (f *finder) look(ctx context.Context, c *claim, path, place string) error {
	file, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		c.unusable(path, err)
		return nil
	}
	return f.candidate(ctx, c, file, path, place, possible)
}

// candidate makes a file a candidate of a claim, after a look at what is in it.
func (f *finder) candidate(ctx context.Context, c *claim, file *os.File, path, place string, known confidence) error {
	s, err := f.sideFile(file, path)
	if err != nil {
		c.unusable(path, err)
		return nil
	}
	return f.offer(ctx, c, s, place, known)
}

// offer makes a file that is open a candidate.
func (f *finder) offer(ctx context.Context, c *claim, s *sideFile, place string, known confidence) error {
	path := s.path
	if i := slices.IndexFunc(c.candidates, func(old *candidate) bool { return old.sideFile == s }); i >= 0 {
		if known != certain || c.candidates[i].confidence == certain {
			return nil
		}
		c.candidates = slices.Delete(c.candidates, i, i+1)
		place = mappedPlace
	}
	if known != certain && !c.numbered(s.source.PID()) {
		err := fmt.Errorf("it says that it is of process %d; was it overwritten by another run?", s.source.PID())
		c.unusable(path, err)
		return nil
	}
	if err := f.scan(ctx, s); err != nil {
		return err
	}
	cand := &candidate{sideFile: s, place: place, recorded: path == c.path, confidence: known}
	if known != certain {
		d := c.dumpOf(s)
		if _, cand.err = d.matchClock(f.rec, f.opts.Clock); cand.err == nil {
			cand.err = d.isRecordings()
		}
		if cand.err == nil {
			if cand.confidence = d.fits(f.rec); cand.confidence == refuted {
				cand.err = fmt.Errorf("none of its code lies where process %d had executable memory; was it overwritten by another run?", d.pid)
				cand.err = advise(cand.err, "if it is right all the same, name it with --dump %d=FILE", d.pid)
			}
		}
		if cand.err != nil {
			cand.confidence = refuted
			c.refusals = append(c.refusals, refusal{f.checked(s.path, d.pid, cand.err), s})
		}
	}
	c.candidates = append(c.candidates, cand)
	return nil
}

// scan scans a file, once.
func (f *finder) scan(ctx context.Context, s *sideFile) error {
	if s.scanned {
		return nil
	}
	if !f.rec.in.once { // or else it goes on as the stream does
		f.opts.Progress.begin(PhaseScan, s.info.Size())
		s.source.Scanned().Watch = f.opts.Progress.set
	}
	if err := s.source.Scan(ctx); err != nil {
		return err
	}
	s.scanned = true
	return nil
}

// checked is the problem of a file whose contents do not fit.
func (f *finder) checked(path string, pid uint32, err error) Problem {
	otherwise := adviceNamed(pid, err)
	if errors.As(err, new(errClock)) {
		path = f.opts.Input
	}
	return problemOf(path, err, otherwise)
}

// sideFile returns what is known of an open file, which is closed if it is known
// already, or is no dump.
func (f *finder) sideFile(file *os.File, path string) (*sideFile, error) {
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	for _, s := range f.files {
		if os.SameFile(info, s.info) {
			file.Close()
			if s.live && !isLive(path) {
				s.path, s.live = path, false
			}
			return s, nil
		}
	}
	src, err := source.Open(file)
	if err != nil {
		file.Close()
		return nil, dumpAdvice(err)
	}
	switch src := src.(type) {
	case *source.MonoLog:
		src.SetTarget(f.rec.machine, f.rec.in.order)
		src.Short = f.opts.MonoShort
	case *source.Jitdump:
		src.SetMachine(f.rec.machine, f.rec.isNarrow(src.PID()))
	}
	s := &sideFile{path: path, live: isLive(path), file: file, info: info, source: src}
	f.files = append(f.files, s)
	return s, nil
}

// maxSubdirs bounds how many directories in one of DumpDirs are looked into.
const maxSubdirs = 1000

// listDirs looks at the directories in which dumps are to be looked for, and at
// those in them: dumps of containers have one name, so that is how to keep them.
func (f *finder) listDirs() error {
	for _, dir := range f.opts.DumpDirs {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return fmt.Errorf("--dump-dir %s: there is no such directory", Printable(dir))
		}
		var subdirs []string
		entries, _ := os.ReadDir(dir) // one that cannot be listed may still hold what is asked for by name
		for _, e := range entries {
			if e.IsDir() && len(subdirs) < maxSubdirs {
				subdirs = append(subdirs, e.Name())
			}
		}
		f.subdirs = append(f.subdirs, subdirs)
	}
	return nil
}

// missing is the problem of a claim for which there is no file at all.
func (f *finder) missing(c *claim) Problem {
	var dirs []string
	for _, dir := range append([]string{f.rec.in.dir}, f.opts.DumpDirs...) {
		if dir = filepath.Clean(dir); dir == "." {
			dir = "the current directory"
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	own := ""
	if f.rec.inContainer(c.markers[0].pid) {
		own = ", a path in a container,"
	}
	return Problem{Offset: -1, Text: fmt.Sprintf("process %d: its dump %s%s is gone: neither there nor in %s",
		c.markers[0].pid, Printable(c.markers[0].path), own, Printable(strings.Join(dirs, ", "))), Advice: "if you have it, name its directory with --dump-dir"}
}

// closeOthers closes the files that are not of these dumps.
func (f *finder) closeOthers(dumps []*dump) {
	for _, s := range f.files {
		if !slices.ContainsFunc(dumps, func(d *dump) bool { return d.file == s.file }) {
			s.file.Close()
		}
	}
}
