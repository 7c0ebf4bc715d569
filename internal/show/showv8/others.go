package showv8

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxFields bounds the bytes of other lines that are shown in fields.
const maxFields = 64 << 10

// others shows the lines from the last one that was shown up to an offset. The codec does not read
// them.
func (l *logViewer) others(end int64) {
	if end <= l.at {
		return
	}
	src := bufio.NewReaderSize(io.NewSectionReader(l.File, l.at, end-l.at), maxFields)
	for l.at < end && !l.Lost() {
		line, err := src.ReadSlice('\n')
		size := int64(len(line))
		head := bytes.Clone(bytes.TrimSuffix(line, []byte{'\n'}))
		for err == bufio.ErrBufferFull {
			line, err = src.ReadSlice('\n')
			size += int64(len(line))
		}
		if size == 0 {
			return // the file has shrunk
		}
		l.other(l.at, size, head)
		l.at += size
	}
}

// other shows a line. head is the part that is shown.
func (l *logViewer) other(offset, size int64, head []byte) {
	kind, rest, _ := bytes.Cut(head, []byte{','})
	if len(head) == 0 {
		l.Problem(offset, errors.New("an empty line")) // a long text would be a hundred times the line
		return
	}
	if !slices.Contains(otherKinds, string(kind)) {
		l.Problem(offset, fmt.Errorf("no line of V8 begins with %.40q; it is left out", head))
		return
	}
	l.item(offset, offset+size, string(kind), &struct {
		Fields [][]byte `show:"fields"`
	}{bytes.Split(rest, []byte{','})})
}
