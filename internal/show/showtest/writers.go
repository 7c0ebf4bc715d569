package showtest

import (
	"bytes"
	"io"
	"runtime"
	"syscall"
	"time"
)

// Peak is a writer that looks at the heap now and then.
type Peak struct {
	Began   time.Time
	First   time.Duration // from Began to the first output
	Written int64         // bytes
	Heap    uint64        // the most that was seen, in bytes

	looked int64 // what was written when the heap was looked at
}

// NewPeak returns a Peak that sees nothing of what tests before it have left on the heap.
func NewPeak() Peak {
	runtime.GC()
	return Peak{Began: time.Now()}
}

func (p *Peak) Write(b []byte) (int, error) {
	if p.Written == 0 {
		p.First = time.Since(p.Began)
	}
	p.Written += int64(len(b))
	if p.Written-p.looked > 8<<20 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.Heap, p.looked = max(p.Heap, m.HeapAlloc), p.Written
	}
	return len(b), nil
}

// Limited takes 256 KB and no more.
type Limited struct{ Out *bytes.Buffer }

func (l Limited) Write(p []byte) (int, error) {
	if l.Out.Len() > 256<<10 {
		return 0, io.ErrShortWrite
	}
	return l.Out.Write(p)
}

// Closed fails after some writes.
type Closed struct{ Calls, After int }

func (c *Closed) Write(b []byte) (int, error) {
	c.Calls++
	if c.Calls > c.After {
		return 0, syscall.EPIPE
	}
	return len(b), nil
}

var _ io.Writer = (*Closed)(nil)
