package recorded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/perfdata"
)

// A File is a recording open for reading, in any of its forms.
type File struct {
	*perfdata.Layouts
	Order  binary.ByteOrder
	Attrs  []perfdata.Attr
	Header *perfdata.File
	Stream perfdata.Stream
	IsDir  bool
	Close  func() error
	Size   int64
	Src    io.ReaderAt
}

// Open opens a recording and stands at its first record.
func Open(path string) (*File, error) {
	f, err := verify.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if !st.IsDir() {
		rec, err := Read(f, st.Size())
		if err != nil {
			f.Close()
			return nil, err
		}
		rec.Close = f.Close
		return rec, nil
	}
	rec := &File{Close: f.Close, Size: st.Size(), Src: f}
	if err := rec.openDir(path); err != nil {
		rec.Close()
		return nil, err
	}
	return rec, nil
}

// Read returns a recording of one file, at its first record. It need not be closed.
func Read(src io.ReaderAt, size int64) (*File, error) {
	rec := &File{Close: func() error { return nil }, Size: size, Src: src}
	return rec, rec.open()
}

// ErrOtherDir says that a directory is no recording.
var ErrOtherDir = errors.New("it is a directory without a file called data, so perf record did not make it")

func (rec *File) openDir(path string) error {
	d, err := perfdata.OpenDirFS(sys.DirFS(path))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrOtherDir
	}
	if err != nil {
		return fmt.Errorf("a directory that perf record did not make: %w", verify.PlainError(err))
	}
	closeSelf := rec.Close
	rec.Close = func() error { d.Close(); return closeSelf() }
	rec.IsDir, rec.Header = true, d.File
	rec.Stream = d.Blocks()
	return rec.layouts()
}

func (rec *File) open() (err error) {
	rec.Header, err = perfdata.Open(rec.Src, rec.Size)
	if err != nil {
		return err
	}
	rec.Stream = rec.Header.Blocks()
	return rec.layouts()
}

func (rec *File) layouts() (err error) {
	rec.Attrs, rec.Order = rec.Header.Attrs, rec.Header.Header.Order
	rec.Layouts, err = perfdata.NewLayouts(rec.Header.Header.Order, rec.Attrs)
	return err
}

// Bits of a record's misc field [linux/perf_event.h], and of mmap(2)'s protection.
const (
	CPUMode     = 7 // PERF_RECORD_MISC_CPUMODE_MASK
	CPUModeUser = 2 // PERF_RECORD_MISC_USER
	ProtExec    = 4 // PROT_EXEC
)
