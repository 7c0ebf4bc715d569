package perfdata

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The directory format, made by perf record --threads (and, without any data.N, by --kcore):
//
//	data      a file as always: header, attrs, features, and records of perf's own thread
//	data.0    only the records of one ring buffer, in the order of time
//	data.1    ...

// A Dir is a recording in directory format. The File is that of data.
type Dir struct {
	*File
	Missing []string // names of missing files: later ones exist

	files []*os.File // data, data.0, ...
}

// OpenDir opens the files of a directory. The Dir reads them until Close.
func OpenDir(path string) (*Dir, error) {
	d := new(Dir)
	if err := d.open(path); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Dir) open(path string) error {
	f, err := d.add(filepath.Join(path, "data"))
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if d.File, err = Open(f, st.Size()); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	numbers := make(map[int]bool)
	for _, e := range entries {
		if n, ok := DirFile(e.Name()); ok && e.Type().IsRegular() {
			numbers[n] = true
			if _, err := d.add(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	for n, seen := 0, 0; seen < len(numbers) && len(d.Missing) < maxMissing; n++ {
		if numbers[n] {
			seen++
		} else {
			d.Missing = append(d.Missing, fmt.Sprintf("data.%d", n))
		}
	}
	return nil
}

// maxMissing bounds the number of reported missing files.
const maxMissing = 10

// DirFile returns N for the name data.N of a file in a directory. ok is false for other names.
func DirFile(name string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(name, "data.")
	number, err := strconv.ParseUint(digits, 10, 31)
	return int(number), ok && err == nil
}

func (d *Dir) add(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err == nil {
		d.files = append(d.files, f)
	}
	return f, err
}

// Names returns the names of the files, data first.
func (d *Dir) Names() []string {
	names := make([]string, len(d.files))
	for i, f := range d.files {
		names[i] = filepath.Base(f.Name())
	}
	return names
}

// Close closes the files.
func (d *Dir) Close() error {
	for _, f := range d.files {
		f.Close()
	}
	return nil
}

// Blocks returns the records of all files, merged in the order of time.
func (d *Dir) Blocks() (Stream, error) {
	layouts, err := NewLayouts(d.Header.Order, d.Attrs)
	if err != nil {
		return nil, err
	}
	m := &merger{layouts: layouts, owner: -1}
	m.sources = append(m.sources, &mergeSource{stream: d.File.Blocks()})
	for _, f := range d.files[1:] {
		st, err := f.Stat()
		if err != nil {
			return nil, err
		}
		r := newBlockReader(io.NewSectionReader(f, 0, st.Size()), d.Header.Order, 0, st.Size(), true)
		m.sources = append(m.sources, &mergeSource{stream: r, name: filepath.Base(f.Name())})
	}
	return m, nil
}
