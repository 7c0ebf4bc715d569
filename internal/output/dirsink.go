package output

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/perfdata"
)

// An output may be a directory, with the same files as perf record --threads writes.

// wantsDir reports whether a path asks for a directory.
func wantsDir(path string) bool { return strings.HasSuffix(path, "/") }

func openOutputDir(opts *config.Options, in *recording.Input) (*Output, error) {
	path := filepath.Clean(opts.Output)
	switch {
	case in.DirNames == nil:
		return nil, fmt.Errorf("%s/: only a recording that is a directory can become one; name a file with %s", quote.Printable(path), inOutput())
	case opts.Compress != 0:
		return nil, errors.New("a directory cannot be compressed; leave out " + report.Mentioned("Compress", "") + ", or name a file with " + inOutput())
	}
	for _, p := range []string{path, path + ".old"} {
		switch st, err := sys.Stat(p); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, Error(p, err)
		case os.SameFile(st, in.Info):
			return nil, fmt.Errorf("%s is the input, and would be replaced; name another output with %s", quote.Printable(p), inOutput())
		default:
			if err := isRecordingDir(p); err != nil {
				return nil, fmt.Errorf("%s would be replaced, but %w; name another output with %s", quote.Printable(p), err, inOutput())
			}
		}
	}
	o := &Output{path: path, dir: true, noSync: opts.NoSync, progress: opts.Progress}
	err := o.create(func() (err error) {
		o.Temp, err = safefile.CreateDir(o.parent, filepath.Base(path))
		return err
	})
	if err != nil {
		return nil, Error(path, err)
	}
	if o.file, err = sys.OpenFile(o.inside("data"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, o.abandonAfter(Error(o.path, err))
	}
	if err := copyOthers(o.inside(""), in); err != nil {
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) && strings.HasPrefix(filepath.Clean(pe.Path)+"/", filepath.Clean(in.Path)+"/") {
			err = fmt.Errorf("%s: cannot read it: %w", quote.Printable(pe.Path), pe.Err)
		} else {
			err = Error(o.path, err)
		}
		return nil, o.abandonAfter(err)
	}
	return o, nil
}

// abandonAfter removes what has been written, and returns err with what could not be removed.
func (o *Output) abandonAfter(err error) error {
	if left := o.Abandon(); left != "" {
		err = fmt.Errorf("%w; %s", err, left)
	}
	return err
}

// inside returns the path of a file in the directory that is being written.
func (o *Output) inside(name string) string {
	return filepath.Join(filepath.Dir(o.path), o.Temp.Name, name)
}

// isRecordingDir fails if a directory is not a recording, or if anything else is in it: it is
// about to be moved or removed with all of its contents.
func isRecordingDir(path string) error {
	f, err := sys.Open(filepath.Join(path, "data"))
	if safefile.IsAbsent(err) {
		return errors.New("it is no recording")
	} else if err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	} else if st.Size() == 0 {
		return errors.New("it is no recording")
	} else if _, err := perfdata.Open(f, st.Size()); err != nil {
		return fmt.Errorf("it is no recording: %w", err)
	}
	entries, err := sys.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !safefile.IsRecordingPart(e.Name()) {
			return fmt.Errorf("it has %s in it, which is no part of a recording", quote.Printable(e.Name()))
		}
	}
	return nil
}

// copyOthers copies the subdirectories of the input that are no part of the recording itself,
// such as the kernel's code.
func copyOthers(temp string, in *recording.Input) error {
	entries, err := sys.ReadDir(in.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || slices.Contains(in.DirNames, e.Name()) {
			continue
		}
		if err := sys.CopyTree(filepath.Join(temp, e.Name()), filepath.Join(in.Path, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// A dirSink writes the files of a directory. Records stay in the file that they come from. A new
// record goes into the file of the record that it precedes.
type dirSink struct {
	fileSink
	others []*sys.File // data.0, ...
	bufs   []*bufio.Writer
	file   int // index of the file that is written to
	err    error
}

func newDirSink(in *recording.Input, out *Output) (Sink, error) {
	w, err := perfdata.NewWriter(out.file, in.File)
	if err != nil {
		return nil, err
	}
	s := &dirSink{fileSink: fileSink{Writer: w, features: slices.Clone(in.File.Features), dir: true}}
	for _, name := range in.DirNames[1:] {
		f, err := sys.OpenFile(out.inside(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			s.close()
			return nil, Error(out.path, err)
		}
		s.others = append(s.others, f)
		s.bufs = append(s.bufs, bufio.NewWriterSize(f, 64<<10))
	}
	return s, nil
}

// Write writes records to the file that From has set.
func (s *dirSink) Write(p []byte) (int, error) {
	if s.file == 0 {
		return s.fileSink.Write(p)
	}
	if s.err != nil {
		return 0, s.err
	}
	var n int
	n, s.err = s.bufs[s.file-1].Write(p)
	return n, s.err
}

// Raw writes payloads of records to that file.
func (s *dirSink) Raw(p []byte) { s.Write(p) }

// From sets the file that is written to.
func (s *dirSink) From(file int) { s.file = file }

// Err returns the first error of writing any of the files.
func (s *dirSink) Err() error {
	if s.err != nil {
		return s.err
	}
	return s.fileSink.Err()
}

// Finish writes what is left of all files.
func (s *dirSink) Finish(buildIDs Extend, aux func([]byte) []byte) error {
	for _, b := range s.bufs {
		if err := b.Flush(); s.err == nil {
			s.err = err
		}
	}
	if err := s.close(); s.err == nil {
		s.err = err
	}
	if s.err != nil {
		return s.err
	}
	return s.fileSink.Finish(buildIDs, aux)
}

// close closes the files other than data.
func (s *dirSink) close() (err error) {
	for _, f := range s.others {
		if e := f.Close(); err == nil {
			err = e
		}
	}
	return err
}
