package v8log

import (
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A failing is a file with one read that fails.
type failing struct {
	io.ReaderAt
	at, reads int
}

func (f *failing) ReadAt(b []byte, off int64) (int, error) {
	if f.reads++; f.reads == f.at {
		return 0, unix.EIO
	}
	return f.ReaderAt.ReadAt(b, off)
}

// Any read that fails is an error with its offset, and no damage of the log. The second name has a
// line like a record's, so what follows the name is read, too.
func TestReader_UnreadableFile(t *testing.T) {
	log := header + strings.Repeat("code-creation,JS,13,1,0x10,3,a\nsfi-move,0x1,0x2\nb /x:1:1,0x30,*\ncode-source-info,0x10,1,0,3,,,\n", 4000)
	for at := 1; ; at++ {
		src := &failing{strings.NewReader(log), at, 0}
		r, err := NewReader(src)
		for err == nil {
			_, err = r.Next()
		}
		if src.reads < at {
			if at < 4000 || err != io.EOF {
				t.Errorf("got %v after %d reads; want more than 4,000", err, src.reads)
			}
			return
		}
		if !errors.Is(err, unix.EIO) || !strings.HasPrefix(err.Error(), "offset ") || errors.As(err, new(*Error)) {
			t.Fatalf("read %d: got %v; want %v with its offset", at, err, unix.EIO)
		}
		if at > 8 { // many are of one kind
			at += 97
		}
	}
}
