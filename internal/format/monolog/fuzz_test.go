package monolog

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"testing/iotest"
)

// transcript reads a log, checks that reading goes forwards and ends, and returns what it reads.
func transcript(t *testing.T, src io.Reader, size int) (lines []string) {
	t.Helper()
	r, err := NewReader(src)
	if err != nil {
		return []string{err.Error()}
	}
	for at := r.Header().Size; ; {
		b, err := r.NextBuffer()
		if err == io.EOF {
			return lines
		}
		if len(lines) > 2*size {
			t.Fatalf("%d bytes give more than %d errors and events", size, len(lines))
		}
		if err != nil {
			lines = append(lines, err.Error())
			continue
		}
		if b.Offset < at {
			t.Fatalf("buffer at %#x, behind %#x", b.Offset, at)
		}
		at = b.Offset + bufferHeaderSize
		lines = append(lines, fmt.Sprintf("%+v", *b))
		for {
			e, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				lines = append(lines, err.Error())
				continue
			}
			if e.Offset != at || e.Length < 1 || e.Kind == KindNone || e.Kind >= kinds {
				t.Fatalf("behind %#x: %+v", at, e)
			}
			at += e.Length
			lines = append(lines, fmt.Sprintf("%+v", *e))
		}
	}
}

// Whatever the bytes are: reading ends, and in pieces it reads the same.
func FuzzReader(f *testing.F) {
	for _, log := range madeLogs(f) {
		f.Add(log)
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
		lines := transcript(t, bytes.NewReader(log), len(log))
		pieces := transcript(t, iotest.HalfReader(bytes.NewReader(log)), len(log))
		if fmt.Sprint(lines) != fmt.Sprint(pieces) {
			t.Fatalf("in pieces:\n%q\nwhole:\n%q", pieces, lines)
		}
	})
}
