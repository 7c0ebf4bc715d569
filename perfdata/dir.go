package perfdata

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
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

	files   []*dirFile // data, data.0, ...
	layouts *Layouts
}

// A dirFile is an open file of the directory.
type dirFile struct {
	file io.Closer
	io.ReaderAt
	name string
	size int64 // in bytes
}

// OpenDir opens the files of a directory. The Dir reads them until Close.
func OpenDir(path string) (*Dir, error) { return OpenDirFS(os.DirFS(path)) }

// OpenDirFS opens the files of a directory. They must be io.ReaderAts. The Dir reads them until
// Close.
func OpenDirFS(fsys fs.FS) (*Dir, error) {
	d := new(Dir)
	if err := d.open(fsys); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Dir) open(fsys fs.FS) error {
	f, err := d.add(fsys, "data")
	if err != nil {
		return err
	}
	if d.File, err = Open(f, f.size); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	if d.layouts, err = NewLayouts(d.Header.Order, d.Attrs); err != nil {
		return err
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return err
	}
	numbers := make(map[int]bool)
	for _, e := range entries {
		if n, ok := DirFile(e.Name()); ok && e.Type().IsRegular() {
			numbers[n] = true
			if _, err := d.add(fsys, e.Name()); err != nil {
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

// add opens a file of the directory.
func (d *Dir) add(fsys fs.FS, name string) (*dirFile, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		f.Close()
		return nil, fmt.Errorf("%s: its file system cannot read at an offset", name)
	}
	d.files = append(d.files, &dirFile{f, r, name, st.Size()})
	return d.files[len(d.files)-1], nil
}

// Names returns the names of the files, data first.
func (d *Dir) Names() []string {
	names := make([]string, len(d.files))
	for i, f := range d.files {
		names[i] = f.name
	}
	return names
}

// Close closes the files.
func (d *Dir) Close() error {
	for _, f := range d.files {
		f.file.Close()
	}
	return nil
}

// Blocks returns the records of all files, merged in the order of time.
func (d *Dir) Blocks() Stream {
	m := &merger{layouts: d.layouts, owner: -1}
	m.sources = append(m.sources, &mergeSource{stream: d.File.Blocks()})
	for _, f := range d.files[1:] {
		r := newBlockReader(io.NewSectionReader(f, 0, f.size), d.Header.Order, 0, f.size, true)
		s := &mergeSource{stream: r, name: f.name}
		if f.size <= maxHeld {
			s.stream = &heldStream{reader: r}
		}
		m.sources = append(m.sources, s)
	}
	return m
}

// maxHeld is the size of files that are read ahead, and how far, in bytes: 1/32 of zstd's largest window. So
// thousands of small files share one window.
const maxHeld = maxWindow / 32

// A heldStream reads ahead while a file is unpacked, to its end if that is near.
type heldStream struct {
	reader *BlockReader // nil at the end of the file
	blocks []Block
	cut    int64
	err    error
}

// Next implements Stream.
func (h *heldStream) Next() (Block, error) {
	if len(h.blocks) == 0 {
		h.blocks = nil
		for held := 0; h.reader != nil && (held == 0 || held < maxHeld && h.reader.unpack != nil); {
			var b Block
			if b, h.err = h.reader.Next(); h.err != nil {
				h.cut, h.reader = h.reader.Cut(), nil
				break
			}
			held += len(b.Data)
			b.Data = bytes.Clone(b.Data)
			h.blocks = append(h.blocks, b)
		}
		if len(h.blocks) == 0 {
			return Block{}, h.err
		}
	}
	b := h.blocks[0]
	h.blocks[0].Data, h.blocks = nil, h.blocks[1:]
	return b, nil
}

// Cut implements Stream.
func (h *heldStream) Cut() int64 { return h.cut }
