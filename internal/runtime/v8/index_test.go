package v8

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// readIndex reads a log without a watch.
func readIndex(ctx context.Context, src io.ReaderAt, name string, wanted map[place]int) (*index, error) {
	return (&reading{ctx: ctx, src: src, name: name, wanted: wanted, limit: maxIndex}).index()
}

// An endless is a log with a line that has no end. It calls each before each read.
type endless struct {
	start string
	each  func()
}

func (e *endless) ReadAt(b []byte, off int64) (int, error) {
	e.each()
	n := 0
	if off < int64(len(e.start)) {
		n = copy(b, e.start[off:])
	}
	for i := range b[n:] {
		b[n+i] = 'a'
	}
	return len(b), nil
}

// Reading stops with the first read after ctx is done, in any line.
func TestReading_CancelledInLine(t *testing.T) {
	const head = "v8-version,11,3,244,8,0\n"
	for _, line := range []string{
		"unknown,", "script-source,1,/a.js,", "script-source,1,", "code-creation,JS,13,1,0x1,1,", "code-creation,JS,13,1,0x1,1,a\n",
		"code-source-info,0x1,1,0,3,", "code-source-info,0x1,1,0,3,,,S0x1,",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		reads := 0
		_, err := readIndex(ctx, &endless{head + line, func() {
			if reads++; reads == 20 {
				cancel()
			}
		}}, "v8.log", nil)
		if !errors.Is(err, context.Canceled) || reads != 20 {
			t.Errorf("%q: got %v after %d reads; want %v after 20", line, err, reads, context.Canceled)
		}
	}
}

// The watch of a reading gets ever larger numbers, at last the size of the log.
func TestReading_Watch(t *testing.T) {
	// The lines after a damaged creation are read twice.
	log := "v8-version,11,3,244,8,0\n" + strings.Repeat("code-creation,JS,13,1,0x1,1,a\nsfi-move,0x1,0x2\n"+strings.Repeat("x", 9000)+"\n", 200)
	var got []int64
	l := reading{ctx: t.Context(), src: bytes.NewReader([]byte(log)), watch: func(done int64) { got = append(got, done) }}
	if _, err := l.index(); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(got); i++ {
		if got[i] <= got[i-1] {
			t.Errorf("got %d after %d; want more", got[i], got[i-1])
		}
	}
	if n := len(got); n < 5 || got[n-1] != int64(len(log)) {
		t.Errorf("got %d; want 5 numbers or more, at last %d", got, len(log))
	}
}

// The name of a log that is a dump of its own is beside the message already.
func TestIndex_Problem(t *testing.T) {
	for name, want := range map[string]string{"": "damage", "v8.log": "v8.log: damage"} {
		if got := (&index{name: name}).problem(errors.New("damage")).Error(); got != want {
			t.Errorf("%q: got %q; want %q", name, got, want)
		}
	}
}
