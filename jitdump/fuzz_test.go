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
	f.Add(testrec.Hex(f, "testdata/spec.hex"))
	f.Add(testrec.Hex(f, "testdata/debuginfo2.hex"))
	f.Add(testrec.Hex(f, "testdata/openj9.hex"))
	f.Add(writeAll(f, &jitdump.Header{Machine: 62}, []jitdump.Record{
		jitdump.NewTier(1, jitdump.Blue, "Ion"), jitdump.NewEmbeddedSource("a.toy", []byte("fn f() {}")),
	}, []uint64{1, 2}))
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
			switch info := rec.(type) {
			case *jitdump.DebugInfo:
				for _, err := range info.Entries() {
					if err != nil {
						_ = err.Error()
					}
				}
			case *jitdump.DebugInfo2:
				walkTree(t, info, 1<<16)
			case *jitdump.OpenJ9Metadata:
				if err := info.CheckTables(); err != nil {
					_ = err.Error()
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
			want := bytes.Clone(dump[at : at+raw.Size()])
			if raw.Missized != 0 { // written with its true size
				raw.Order.PutUint32(want[4:], uint32(len(want)))
			}
			if !bytes.Equal(out.Bytes()[head:], want) {
				t.Fatalf("%T at %#x is written as\n% x\nit was\n% x", rec, at, out.Bytes()[head:], want)
			}
		}
	})
}

// walkTree holds a tree that passes its check against what the check promises, the
// slow way.
func walkTree(t *testing.T, d *jitdump.DebugInfo2, codeSize uint64) {
	if d.CheckTree(codeSize) != nil || len(d.Ranges) > 100 {
		return
	}
	owner := make(map[uint32]map[uint64]int) // by depth, the call that each byte belongs to
	latest := make(map[uint32]int)           // call of each depth
	next := 0
	for i, c := range d.Calls {
		clear(owner[c.Depth+1])
		latest[c.Depth] = i
		if owner[c.Depth] == nil {
			owner[c.Depth] = make(map[uint64]int)
		}
		_, _ = d.Functions[c.Function], d.Names[d.Functions[c.Function].Name]
		for _, r := range d.Ranges[next : next+int(c.RangeCount)] {
			for at := uint64(r.Start); at < r.End(); at++ {
				if at >= codeSize {
					t.Fatalf("call %d has code at %#x of %#x", i, at, codeSize)
				}
				if _, taken := owner[c.Depth][at]; taken {
					t.Fatalf("two calls of depth %d at %#x: %+v", c.Depth, at, d)
				}
				if around, ok := owner[c.Depth-1][at]; c.Depth > 0 && (!ok || around != latest[c.Depth-1]) {
					t.Fatalf("call %d at %#x is outside the call around it: %+v", i, at, d)
				}
				owner[c.Depth][at] = i
			}
		}
		next += int(c.RangeCount)
	}
}
