package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/jitinject/jitinject/perfdata"
)

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
	if st.IsDir() {
		err = rec.openDir(path)
	} else {
		err = rec.open()
	}
	if err != nil {
		rec.close()
		return nil, err
	}
	return rec, nil
}

// readRecording returns a recording of one file, at its first record. It need not be closed.
func readRecording(src io.ReaderAt, size int64) (*recordingFile, error) {
	rec := &recordingFile{close: func() error { return nil }, size: size, src: src}
	return rec, rec.open()
}

func (rec *recordingFile) openDir(path string) error {
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
	return rec.layouts()
}

func (rec *recordingFile) open() (err error) {
	rec.file, err = perfdata.Open(rec.src, rec.size)
	if err == nil {
		rec.stream = rec.file.Blocks()
		return rec.layouts()
	}
	if !errors.Is(err, perfdata.ErrPipe) {
		return err
	}
	p, err := perfdata.OpenPipe(io.NewSectionReader(rec.src, 0, rec.size))
	if err != nil {
		return err
	}
	rec.file, rec.stream, rec.Layouts, rec.order = nil, p.Blocks(), perfdata.NoLayouts(p.Order), p.Order
	return nil
}

// layouts takes the layouts of records from the events.
func (rec *recordingFile) layouts() (err error) {
	rec.attrs, rec.order = rec.file.Attrs, rec.file.Header.Order
	rec.Layouts, err = perfdata.NewLayouts(rec.file.Header.Order, rec.attrs)
	return err
}

// walkRecording calls yield for each record, and reports whether all times are of
// CLOCK_MONOTONIC.
func walkRecording(ctx context.Context, path string, yield func(*recordingFile, perfdata.Record)) (monotonic bool, err error) {
	rec, err := openRecording(path)
	if err != nil {
		return false, err
	}
	defer rec.close()
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		block, err := rec.stream.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return false, err
		}
		for _, r := range block.Records() {
			if r.Type == perfdata.RecordHeaderAttr && rec.file == nil {
				a, err := perfdata.HeaderAttr(rec.order, r)
				if err != nil {
					return false, err
				}
				rec.attrs = append(rec.attrs, a)
				if rec.Layouts, err = perfdata.NewLayouts(rec.order, rec.attrs); err != nil {
					return false, err
				}
				continue
			}
			yield(rec, r)
		}
	}
	for i := range rec.attrs {
		if id, ok := rec.attrs[i].ClockID(); !ok || id != perfdata.ClockMonotonic {
			return false, nil
		}
	}
	return len(rec.attrs) > 0, nil
}
