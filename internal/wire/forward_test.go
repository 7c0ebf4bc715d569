package wire

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// A sparse is a file that knows what was written.
type sparse struct {
	data    []byte
	written []bool
	calls   int
	err     error
}

func (s *sparse) WriteAt(p []byte, off int64) (int, error) {
	s.calls++
	if s.err != nil {
		return 0, s.err
	}
	for i := range p {
		s.data[int(off)+i], s.written[int(off)+i] = p[i], true
	}
	return len(p), nil
}

// Whatever is written, skipped and left, everything is where it belongs: small gaps are
// zeros, large ones holes, and what is left is never touched.
func TestForward_GapsAndHoles(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		const size = 4 << 20
		s := &sparse{data: bytes.Repeat([]byte{0xee}, size), written: make([]bool, size)}
		want := bytes.Repeat([]byte{0xee}, size)
		at := int64(r.IntN(10000))
		f := NewForward(s, at)
		for range 60 {
			switch n := r.IntN(1 << r.IntN(17)); r.IntN(3) {
			case 0:
				p := make([]byte, n)
				for i := range p {
					p[i] = byte(r.Uint32())
				}
				copy(want[at:], p)
				f.Bytes(p)
				at += int64(n)
			case 1:
				if n < holeMin {
					clear(want[at : at+int64(n)])
				}
				at += int64(n)
				f.SkipTo(at)
			case 2:
				at += int64(n)
				f.Leave(int64(n))
			}
		}
		if err := f.Flush(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(s.data, want) {
			t.Fatalf("seed %d: the file differs", seed)
		}
	}
}

func TestForward_Backwards(t *testing.T) {
	s := &sparse{}
	f := NewForward(s, 100)
	f.SkipTo(50)
	f.Bytes([]byte{1})
	if err := f.Flush(); err == nil || s.calls != 0 {
		t.Errorf("going back: %v, after %d writes", err, s.calls)
	}
}

func TestForward_WriterFails(t *testing.T) {
	s := &sparse{err: errors.New("full")}
	f := NewForward(s, 0)
	f.Bytes(make([]byte, 10))
	f.Leave(5)
	f.Bytes(make([]byte, forwardMax))
	if err := f.Flush(); err == nil || s.calls != 1 {
		t.Errorf("got %v after %d calls; want an error after 1", err, s.calls)
	}
}
