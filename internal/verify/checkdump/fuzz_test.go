package checkdump

import (
	"bytes"
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify/checkproducer"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
	"github.com/jitinject/jitinject/jitdump"
)

// FuzzDump: whatever the bytes are, nothing panics, and every complaint is about a rule of a table.
func FuzzDump(f *testing.F) {
	for _, name := range []string{"toyjit", "lli-hot"} {
		dir := f.TempDir()
		if err := testrec.UnpackTo(name, dir); err != nil {
			f.Fatal(err)
		}
		dumps, _ := filepath.Glob(filepath.Join(dir, "*.dump"))
		for _, path := range dumps {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b[:min(len(b), 8<<10)])
		}
	}
	for _, name := range []string{"epoch-232", "four-byte-offsets", "fsd-216", "inline-wide-exc"} {
		b, err := os.ReadFile("../../format/j9meta/testdata/" + name + ".bin")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(openJ9Dump(f, b))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 64<<10 {
			return
		}
		r := verifytest.Reporter(t, rules, checkproducer.Rules)
		c := newChecker(r, bytes.NewReader(in), int64(len(in)))
		c.reports = true
		if err := c.check(context.Background(), "jit-1.dump"); err != nil {
			t.Error(err)
		}
		c.producer.Write(r, c.machine)
	})
}

// openJ9Dump returns a dump of one of the vectors of OpenJ9's metadata.
func openJ9Dump(f *testing.F, metadata []byte) []byte {
	var b bytes.Buffer
	w, err := jitdump.NewWriter(&b, &jitdump.Header{Version: 1, Machine: uint32(elf.EM_X86_64), PID: 1})
	if err != nil {
		f.Fatal(err)
	}
	const start = 0x7f8800001020
	for i, r := range []jitdump.Record{
		&jitdump.OpenJ9Metadata{CodeAddr: start, Base: 0x7e0000000000, PointerSize: 8, Metadata: metadata, Methods: []jitdump.JavaMethod{
			{Method: 0x500000, Class: []byte("a/B"), Name: []byte("f"), Signature: []byte("(I)V"), File: []byte("a/B.java"), Lines: []jitdump.JavaLine{{Line: 3}, {ByteCodeIndex: 4, Line: 5}}},
		}},
		&jitdump.Load{PID: 1, TID: 1, VMA: start, CodeAddr: start, CodeSize: 0x400, Name: []byte("a.B.f(I)V"), Code: make([]byte, 0x400)},
	} {
		if err := w.Write(uint64(1000+i), r); err != nil {
			f.Fatal(err)
		}
	}
	return b.Bytes()
}
