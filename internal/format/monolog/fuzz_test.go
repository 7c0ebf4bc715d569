package monolog

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"testing/iotest"
)

// transcript reads a log, checks that reading goes forwards and ends, and returns what it reads. What can be
// written again goes to w, which may be nil.
func transcript(t *testing.T, src io.Reader, size int, w writer) (lines []string, clean bool) {
	t.Helper()
	r, err := NewReader(src)
	if err != nil {
		return []string{err.Error()}, false
	}
	clean = true
	for at := r.Header().Size; ; {
		b, err := r.NextBuffer()
		if err == io.EOF {
			return lines, clean
		}
		if len(lines) > 2*size {
			t.Fatalf("%d bytes give more than %d errors and events", size, len(lines))
		}
		if err != nil {
			clean = false
			lines = append(lines, err.Error())
			continue
		}
		if b.Offset < at {
			t.Fatalf("buffer at %#x, behind %#x", b.Offset, at)
		}
		at = b.Offset + bufferHeaderSize
		if w != nil {
			if err := w.Buffer(*b); err != nil {
				t.Fatal(err)
			}
		}
		lines = append(lines, fmt.Sprintf("%+v", *b))
		for {
			e, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				clean = false
				lines = append(lines, err.Error())
				continue
			}
			if e.Offset != at || e.Length < 1 || e.Kind == KindNone || e.Kind >= kinds {
				t.Fatalf("behind %#x: %+v", at, e)
			}
			at += e.Length
			lines = append(lines, fmt.Sprintf("%+v", *e))
			if e.Dropped > 0 {
				clean = false
			} else if w != nil {
				if err := w.Event(e); err != nil {
					t.Fatalf("got for %+v: %v; want it written", e, err)
				}
			}
		}
	}
}

// Whatever the bytes are: reading ends, in pieces it reads the same, and what it reads can be written and is then read again.
func FuzzReader(f *testing.F) {
	for version := uint8(MinVersion); version <= MaxVersion; version++ {
		f.Add(made(f, version, 8, madeEvents(version)))
		f.Add(made(f, version, 4, madeEvents(version)))
	}
	for _, name := range []string{"v1-core", "v17-events", "v17-calls"} {
		log := unzip(f, "testdata/"+name+".mlpd")
		f.Add(log[:4096])
		r, err := NewReader(bytes.NewReader(log))
		if err != nil {
			f.Fatal(err)
		}
		for n := 0; n < 40; n++ { // what comes later, by buffers
			b, err := r.NextBuffer()
			if err != nil {
				break
			}
			if end := b.Offset + bufferHeaderSize + int64(b.Len); b.Len < 4096 {
				f.Add(append(bytes.Clone(log[:r.Header().Size]), log[b.Offset:end]...))
			}
		}
	}
	f.Add(unzip(f, "testdata/v17-zip.mlpd")[:1000])
	f.Fuzz(func(t *testing.T, log []byte) {
		if len(log) > 1<<16 {
			return
		}
		lines, _ := transcript(t, bytes.NewReader(log), len(log), nil)
		pieces, _ := transcript(t, iotest.HalfReader(bytes.NewReader(log)), len(log), nil)
		if fmt.Sprint(lines) != fmt.Sprint(pieces) {
			t.Fatalf("in pieces:\n%q\nwhole:\n%q", pieces, lines)
		}
		r, err := NewReader(bytes.NewReader(log))
		if err != nil {
			return
		}
		var out bytes.Buffer
		w, err := newWriter(&out, r.Header())
		if err != nil {
			t.Fatal(err)
		}
		if _, clean := transcript(t, bytes.NewReader(log), len(log), w); !clean {
			return
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		// Numbers may be longer than they need to be, so only what they mean is compared.
		r1, _ := NewReader(bytes.NewReader(log))
		r2, err := NewReader(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		for {
			_, err1 := r1.NextBuffer()
			_, err2 := r2.NextBuffer()
			if err1 != err2 {
				t.Fatalf("got %v, %v; want the same error twice", err1, err2)
			}
			if err1 != nil {
				return
			}
			for {
				e1, err1 := r1.Next()
				e2, err2 := r2.Next()
				if err1 != err2 {
					t.Fatalf("got %v, %v; want the same error twice", err1, err2)
				}
				if err1 != nil {
					break
				}
				e2.Offset, e2.Length = e1.Offset, e1.Length
				if a, b := fmt.Sprintf("%+v", *e1), fmt.Sprintf("%+v", *e2); a != b {
					t.Fatalf("written and read again:\n%s\nbefore:\n%s", b, a)
				}
			}
		}
	})
}
