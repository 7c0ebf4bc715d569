package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/perfdata"
)

// A recording is read several times. So one that comes through a pipe is copied to a file without a
// name first, and that file is read.

// IsPipe reports whether the input comes through a pipe. It can be read after Spool only.
func (in *Input) IsPipe() bool { return in.piped }

// Spool copies a pipe to a file. dir is the directory for that, "" the one for temporary files. The copy ends with the records: a reader that goes on would wait for
// the others of a pipeline. Spool calls seen for each marker when it comes, also from another
// goroutine after Spool has returned an error. The error is ctx's, or of copying. Damage is no error:
// whoever reads the file comes to it, too.
func (in *Input) Spool(ctx context.Context, dir string, seen func(*Recording, Marker)) error {
	advice := "name an output elsewhere with " + report.Mentioned("Output", "")
	if dir == "" {
		dir, advice = os.TempDir(), "name another directory with the variable TMPDIR"
	}
	failed := func(err error) error {
		return Error(in.Path, fmt.Errorf("cannot copy it to %s: %w; %s", quote.Printable(dir), safefile.WithoutPath(err), report.AdviceOr(err, advice)))
	}
	file, err := safefile.Unnamed(dir)
	if err != nil {
		return failed(err)
	}
	s := &spool{ctx: ctx, src: in.source, dst: file, progress: in.Progress, seen: seen}
	in.Progress.Begin(report.PhaseStream, 0)
	// Reading a pipe may block, and ctx must end the run all the same.
	done := make(chan error, 1)
	go func() { done <- s.copy() }()
	select {
	case err = <-done:
	case <-ctx.Done():
		go func() { // the copy ends when its read returns
			<-done
			file.Close()
		}()
		return ctx.Err()
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err == nil {
		in.Info, err = file.Stat()
	}
	if err != nil {
		file.Close()
		if s.reading {
			return Error(in.Path, err)
		}
		return failed(err)
	}
	closePipe := in.Close
	in.source, in.Close = file, func() error { file.Close(); return closePipe() }
	if err := in.openFile(file); err != nil {
		return Error(in.Path, err)
	}
	return nil
}

// maxKept bounds how many recordings are kept with one name and a number.
const maxKept = 100

// Keep gives the copy of a pipe the name path, or one with a number if that exists, and returns the name.
func (in *Input) Keep(path string) (string, error) {
	self := fmt.Sprintf("/proc/self/fd/%d", in.source.Fd())
	for n := 1; ; n++ {
		name := path
		if n > 1 {
			name += fmt.Sprintf(".%d", n)
		}
		err := sys.Linkat(unix.AT_FDCWD, self, unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
		if errors.Is(err, unix.ENOENT) { // the file had a name, and cannot get another
			err = in.copyTo(name)
		}
		if !errors.Is(err, fs.ErrExist) || n == maxKept {
			return name, err
		}
	}
}

// copyTo copies the copy of a pipe to a new file.
func (in *Input) copyTo(name string) error {
	file, err := sys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, io.NewSectionReader(in.source, 0, in.Info.Size()))
	return errors.Join(err, file.Close())
}

// A spool copies what is read from it.
type spool struct {
	ctx      context.Context
	src, dst *sys.File
	progress *report.Progress
	seen     func(*Recording, Marker)
	err      error // the first one of copying
	reading  bool  // err is one of reading
}

// Read reads from the pipe, and writes the same to the file.
func (s *spool) Read(p []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err = s.src.Read(p)
	if err != nil && err != io.EOF {
		s.err, s.reading = err, true
	}
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	if s.err == nil {
		s.progress.Add(int64(n))
		_, s.err = s.dst.Write(p[:n])
	}
	if s.err != nil {
		return 0, s.err
	}
	return n, err
}

// copy copies the pipe up to the end of its records, and looks for markers in them.
func (s *spool) copy() error {
	file, blocks, err := perfdata.OpenPipe(s)
	if errors.Is(err, perfdata.ErrFile) { // it was recorded before
		io.Copy(io.Discard, s)
		return s.err
	}
	if err != nil {
		return s.err
	}
	rec, err := New(&Input{File: file, Order: file.Header.Order})
	for {
		block, next := blocks.Next()
		if next != nil {
			return s.err
		}
		if len(rec.Attrs) < len(file.Attrs) {
			rec.Attrs = file.Attrs
			rec.Layouts, err = perfdata.NewLayouts(rec.In.Order, rec.Attrs)
		}
		if err != nil {
			return nil
		}
		for at, r := range block.Records() {
			s.observe(rec, r, block.Pos+int64(at))
		}
	}
}

// observe calls seen if a record is a marker. rec gets what that depends on.
func (s *spool) observe(rec *Recording, r perfdata.Record, pos int64) {
	switch r.Type {
	case perfdata.RecordSample:
		if !rec.Timed {
			rec.Began, rec.Timed = rec.Layouts.Time(r)
		}
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		if m, err := rec.Layouts.Mmap(r); err == nil && !m.OfKernel() {
			if marker, ok := rec.markerOf(r, &m, pos); ok {
				s.seen(rec, marker)
			}
		}
	}
}

// OpenResult opens a result of an earlier run, for a command of that name. It must be a file that can
// be read again. The caller closes it.
func OpenResult(command, path string, force bool) (*Input, error) {
	if path == "-" {
		return nil, fmt.Errorf("%s does not read standard input; name the recording's file", command)
	}
	if _, err := sys.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file; name a result of jitinject", quote.Printable(path))
	}
	in, err := Open(&config.Options{Input: path, Force: force})
	if errors.Is(err, perfdata.ErrNotPerfData) {
		return nil, fmt.Errorf("%s: %w; name a result of jitinject", quote.Printable(path), perfdata.ErrNotPerfData)
	}
	if err != nil {
		return nil, err
	}
	if in.piped {
		in.Close()
		return nil, fmt.Errorf("%s: it is a pipe; %s needs a recording in a file", quote.Printable(in.Path), command)
	}
	return in, nil
}
