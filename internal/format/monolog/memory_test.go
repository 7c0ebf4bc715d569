package monolog_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
)

// A repeated reader gives head, and then tail as long as there are bytes left.
type repeated struct {
	head, tail []byte
	at, left   int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(len(p), r.left)]
	n := copy(p, r.head)
	if r.head = r.head[n:]; n == 0 {
		n = copy(p, r.tail[r.at:])
		r.at = (r.at + n) % len(r.tail)
	}
	r.left -= n
	return n, nil
}

// However long a log is, and whatever a buffer claims to be, reading takes the same little
// memory, and none for an event.
func TestReader_BoundedMemory(t *testing.T) {
	log := callsLog(t, 100_000)
	r, err := monolog.NewReader(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	head := int(r.Header().Size)
	b, err := r.NextBuffer()
	if err != nil {
		t.Fatal(err)
	}
	first := head + 48 + int(b.Len)

	endless := bytes.Clone(log[:first]) // a buffer of 4 GB
	binary.LittleEndian.PutUint32(endless[head+4:], 1<<32-1)
	noise := bytes.Repeat([]byte{0x26, 1, 2, 3, 4, 5}, 1000) // between buffers

	for name, src := range map[string]*repeated{
		"many buffers": {head: log[:head], tail: log[head:]},
		"one buffer":   {head: endless, tail: log[head+48 : first]},
		"no buffer":    {head: log[:head], tail: noise},
	} {
		src.left = 48 << 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := monolog.NewReader(src)
		if err != nil {
			t.Fatal(err)
		}
		events := 0
		for {
			if _, err := r.NextBuffer(); err == io.EOF {
				break
			}
			for {
				if _, err := r.Next(); err != nil {
					break
				}
				events++
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes of memory for %d events", name, n, events)
		}
		if events < 1e6 && name != "no buffer" {
			t.Errorf("%s: %d events", name, events)
		}
	}
}

// An event that claims to have endless parts takes a bounded amount of memory.
func TestReader_EndlessEvent(t *testing.T) {
	var head bytes.Buffer
	w, err := monogen.NewWriter(&head, &monolog.Header{Major: 3, Version: 17, PtrSize: 8})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Buffer(monolog.BufferHeader{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(head.Bytes()[head.Len()-48+4:], 1<<32-1)
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7e} // 2^63 - 2^56 - 1, not odd
	huge[0] = 0xfe
	for name, event := range map[string]struct {
		start []byte
		tail  []byte
	}{
		"a name":       {[]byte{0x43, 1, 1, 1, 1}, []byte("name")},
		"a backtrace":  {append([]byte{0x10, 1, 1, 1, 1}, huge...), []byte{1}},
		"moves":        {append([]byte{0x31, 1}, huge...), []byte{1}},
		"references":   {append([]byte{0x26, 1, 1, 1, 1, 0}, huge...), []byte{1}},
		"roots":        {append([]byte{0x36, 1}, huge...), []byte{1}},
		"a sample":     {append([]byte{0x07, 1, 1}, huge...), []byte{1}},
		"counters":     {[]byte{0x47, 1}, []byte{1}},
		"descriptions": {append([]byte{0x37, 1}, huge...), []byte{1, 'a', 0, 1, 1, 1, 1}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := monolog.NewReader(&repeated{head: append(bytes.Clone(head.Bytes()), event.start...), tail: bytes.Repeat(event.tail, 1000), left: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.NextBuffer(); err != nil {
			t.Fatal(err)
		}
		if e, err := r.Next(); err == nil {
			t.Errorf("%s: %s of %d bytes", name, e.Kind, e.Length)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 48<<20 {
			t.Errorf("%s takes %d bytes of memory", name, n)
		}
	}
}
