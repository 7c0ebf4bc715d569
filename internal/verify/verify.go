package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/perfdata"
)

// Options say how files are checked. The zero value is of use, except that nobody
// hears of the complaints.
type Options struct {
	// Emit gets each complaint as it comes up.
	Emit func(Complaint)

	// All tells of every complaint. Otherwise the eleventh about one rule and those
	// behind it are counted only.
	All bool

	// Recording is the path of the recording that dumps belong to. They are held
	// against its markers, clock and samples.
	Recording string

	// Recordings are paths of recordings that dumps may belong to, if Recording is
	// empty. A dump is held against each that knows its process; of one that none
	// knows, only that is said.
	Recordings []string

	// Logs are paths of Mono's logs, XRay's traces and captures that recordings may belong to. A
	// recording says nothing of them by itself.
	Logs []string

	// Now is CLOCK_MONOTONIC of this machine in nanoseconds, for dumps that were made
	// on it, or 0.
	Now uint64
}

// Kinds of files, as Result has them.
const (
	KindDump      = "jitdump"
	KindMono      = monolog.FormatName
	KindXRay      = xrayfdr.FormatName
	KindJ9        = j9meta.FormatName
	KindRecording = "perf.data"
	KindObject    = "ELF object"
)

// ErrUnknown says that a file is of no kind that can be checked.
var ErrUnknown = errors.New("it is neither a jitdump, a Mono log, an XRay trace, metadata of OpenJ9 with its JSON beside it, nor a perf.data or an ELF object")

// KindOf looks at the first bytes of a file. A file with the name of a dump is one,
// whatever is in it.
func KindOf(path string) (string, error) {
	f, err := openChecked(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil {
		return "", err
	} else if st.IsDir() {
		return KindRecording, nil
	}
	var magic [8]byte
	n, err := f.ReadAt(magic[:], 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	base := filepath.Base(path)
	switch b := magic[:n]; {
	case bytes.HasPrefix(b, []byte("\x7fELF")):
		return KindObject, nil
	case bytes.HasPrefix(b, []byte("PERFILE2")), bytes.HasPrefix(b, []byte("2ELIFREP")):
		return KindRecording, nil
	case bytes.HasPrefix(b, []byte(monoMagic)), bytes.HasPrefix(b, []byte(gzipMagic)) && isGzipLog(f):
		return KindMono, nil
	case bytes.HasPrefix(b, []byte("DTiJ")), bytes.HasPrefix(b, []byte("JiTD")), strings.HasPrefix(base, "jit-") && strings.HasSuffix(base, ".dump"):
		return KindDump, nil
	case j9meta.IsCapture(path):
		return KindJ9, nil
	case xrayfdr.Looks(b):
		return KindXRay, nil
	}
	if j9meta.IsCapturePair(path) {
		return KindJ9, nil
	}
	if bin, description, named := j9meta.CapturePaths(path); named {
		other := description
		if path == description {
			other = bin
		}
		return "", fmt.Errorf("%w; a capture would have %s beside it", ErrUnknown, filepath.Base(other))
	}
	return "", ErrUnknown
}

// openChecked opens a file or directory for reading. Pipes and devices are refused:
// opening one may wait forever.
func openChecked(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, plainError(err)
	}
	if !st.Mode().IsRegular() && !st.IsDir() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	return f, plainError(err)
}

// plainError takes the path off an error that will be printed beside it.
func plainError(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// File checks one file. The error says that it could not be read, or is ctx's.
func File(ctx context.Context, path string, opts Options) (Result, error) {
	kind, err := KindOf(path)
	if err != nil {
		return Result{}, err
	}
	if kind == KindJ9 {
		path, _, _ = j9meta.CapturePaths(path) // offsets are in it, whichever was named
	}
	r := newReporter(path, &opts)
	r.result.Kind = kind
	switch kind {
	case KindDump:
		err = checkDump(ctx, r, path, &opts)
	case KindMono:
		err = checkMono(ctx, r, path, &opts)
	case KindXRay:
		err = checkXRay(ctx, r, path, &opts)
	case KindJ9:
		err = checkJ9(ctx, r, path)
	case KindRecording:
		err = checkRecording(ctx, r, path, &opts)
	default:
		err = checkObjectFile(ctx, r, path)
	}
	r.finish(path)
	return r.result, err
}

// A recordingFile is a recording open for reading, in any of its forms.
type recordingFile struct {
	*perfdata.Layouts
	order  binary.ByteOrder
	attrs  []perfdata.Attr
	file   *perfdata.File // nil in pipe format
	stream perfdata.Stream
	dir    bool
	close  func() error
	size   int64
	src    io.ReaderAt
}

// timedSample returns the head of a sample. ok is false also if its event has no times.
func (r *recordingFile) timedSample(rec perfdata.Record) (h perfdata.SampleHead, ok bool) {
	h, ok = r.SampleHead(rec)
	return h, ok && h.Time != perfdata.NoTime
}

// openRecording opens a recording and stands at its first record.
func openRecording(path string) (*recordingFile, error) {
	f, err := openChecked(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	rec := &recordingFile{close: f.Close, size: st.Size(), src: f}
	if err := rec.open(path, st.IsDir()); err != nil {
		rec.close()
		return nil, err
	}
	return rec, nil
}

func (rec *recordingFile) open(path string, isDir bool) (err error) {
	if isDir {
		d, err := perfdata.OpenDir(path)
		if errors.Is(err, fs.ErrNotExist) {
			return errors.New("it is a directory, but none that perf record makes, with a file called data in it, nor one with captures of OpenJ9's metadata, which are files X.bin with X.json beside them")
		}
		if err != nil {
			return fmt.Errorf("a directory that perf record did not make: %w", plainError(err))
		}
		closeSelf := rec.close
		rec.close = func() error { d.Close(); return closeSelf() }
		rec.dir, rec.file = true, d.File
		if rec.stream, err = d.Blocks(); err != nil {
			return err
		}
	} else if rec.file, err = perfdata.Open(rec.src, rec.size); err == nil {
		rec.stream = rec.file.Blocks()
	} else if errors.Is(err, perfdata.ErrPipe) {
		p, err := perfdata.OpenPipe(io.NewSectionReader(rec.src, 0, rec.size))
		if err != nil {
			return err
		}
		rec.file, rec.stream, rec.Layouts, rec.order = nil, p.Blocks(), perfdata.NoLayouts(p.Order), p.Order
		return nil
	} else {
		return err
	}
	rec.attrs, rec.order = rec.file.Attrs, rec.file.Header.Order
	rec.Layouts, err = perfdata.NewLayouts(rec.file.Header.Order, rec.attrs)
	return err
}
