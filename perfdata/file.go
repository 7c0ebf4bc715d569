package perfdata

import (
	"io"
)

// A File is a perf.data open for reading.
type File struct {
	Header   *Header
	Attrs    []Attr
	Features []Feature // in the order of their ids
	IsPipe   bool      // it is in pipe format, whose header is in records: the rest of them is data

	src io.ReaderAt
	gap []byte // bytes between the feature table and the features
}

// Open reads header, attrs and feature table of a file of size bytes. Input in another format gives
// an error that wraps ErrNotPerfData, and a file without any records ErrNoData. A recording in pipe
// format is read to its end.
//
// The File reads from src in its methods, too. It does not close src.
func Open(src io.ReaderAt, size int64) (*File, error) {
	h, err := readHeader(src, size)
	if err == errPipe {
		return openPipe(src, size)
	}
	if err != nil {
		return nil, err
	}
	f := &File{Header: h, src: src}
	if f.Attrs, err = readAttrs(src, h, size); err != nil {
		return nil, err
	}
	if f.Features, f.gap, err = readFeatures(src, h, size); err != nil {
		return nil, err
	}
	return f, nil
}

// Feature returns the feature with the given id, or nil.
func (f *File) Feature(id FeatureID) *Feature {
	for i := range f.Features {
		if f.Features[i].ID == id {
			return &f.Features[i]
		}
	}
	return nil
}

// Blocks returns a reader at the start of the data section. Several may be in use at once.
func (f *File) Blocks() *BlockReader {
	s := f.Header.Data
	if f.IsPipe {
		return f.pipeBlocks(io.NewSectionReader(f.src, int64(s.Offset), int64(s.Size)), nil)
	}
	return f.blocks(int64(s.Offset), int64(s.Size), f.Header.Unfinished)
}

// BlocksIn returns a reader of size bytes of the data section from an offset in the file: whole
// records.
func (f *File) BlocksIn(offset, size int64) *BlockReader {
	r := f.blocks(offset, size, false)
	if f.IsPipe {
		r.header = &pipeHeader{order: f.Header.Order}
	}
	return r
}

func (f *File) blocks(offset, size int64, mayBeCut bool) *BlockReader {
	return newBlockReader(io.NewSectionReader(f.src, offset, size), f.Header.Order, offset, size, mayBeCut)
}
