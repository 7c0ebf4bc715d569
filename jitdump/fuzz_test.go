package jitdump_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// addSeeds seeds a fuzz target with the golden dump and with the beginnings of
// real ones.
func addSeeds(f *testing.F) {
	f.Add(fromHex(f, "testdata/spec.hex"))
	for _, name := range []string{"php", "lli-hot", "node-hot", "erlang"} {
		for _, path := range testrec.Dumps(f, testrec.Unpack(f, name)) {
			dump, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(dump[:min(len(dump), 4096)])
			if at := len(dump) - 2048; at > 4096 { // what the runtime wrote last: optimized code with lines
				r, _ := jitdump.NewReader(bytes.NewReader(dump))
				for {
					raw, err := r.Next()
					if err != nil || raw.Offset > int64(at)-8192 && raw.ID == jitdump.IDDebugInfo {
						f.Add(append(bytes.Clone(dump[:40]), dump[min(raw.Offset, int64(len(dump))):]...))
						break
					}
				}
			}
		}
	}
}

// Whatever the bytes are, reading ends, each record decodes or says why not, and
// what decodes is written again as it was.
func FuzzReader(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, dump []byte) {
		r, err := jitdump.NewReader(bytes.NewReader(dump))
		if err != nil {
			return
		}
		var last int64
		for {
			raw, err := r.Next()
			if errors.Is(err, io.EOF) && !errors.Is(err, jitdump.ErrCut) {
				return
			}
			if err != nil {
				if _, ok := r.Resync(); !ok {
					return
				}
				continue
			}
			if raw.Offset < last {
				t.Fatalf("record at %#x after one at %#x", raw.Offset, last)
			}
			last = raw.Offset + raw.Size()
			at := raw.Offset
			rec, err := raw.Decode()
			if err != nil {
				_ = err.Error()
				continue
			}
			if info, ok := rec.(*jitdump.DebugInfo); ok {
				for _, err := range info.Entries() {
					if err != nil {
						_ = err.Error()
					}
				}
			}
			var out bytes.Buffer
			w, err := jitdump.NewWriter(&out, r.Header())
			if err != nil {
				t.Fatal(err)
			}
			head := out.Len()
			if err := w.Write(raw.Timestamp, rec); err != nil {
				t.Fatal(err)
			}
			if want := dump[at : at+raw.Size()]; !bytes.Equal(out.Bytes()[head:], want) {
				t.Fatalf("%T at %#x is written as\n% x\nit was\n% x", rec, at, out.Bytes()[head:], want)
			}
		}
	})
}
