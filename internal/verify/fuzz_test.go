package verify

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// FuzzVerify: whatever the bytes are, nothing panics, and every complaint is about a
// rule of the table. The first byte says what they are taken for.
func FuzzVerify(f *testing.F) {
	for _, name := range []string{"toyjit", "lli-hot"} {
		dir := f.TempDir()
		if err := testrec.UnpackTo(name, dir); err != nil {
			f.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, path := range files {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			switch {
			case filepath.Ext(path) == ".dump":
				f.Add(append([]byte{0}, b[:min(len(b), 8<<10)]...))
			case filepath.Base(path) == "perf.data":
				f.Add(append([]byte{1}, b[:min(len(b), 8<<10)]...))
			}
		}
	}
	r := testrec.NewRecording()
	r.SampleType |= testrec.StackUser | testrec.ID
	r.Mmap2(1, 5, 0x1000, 0x9000, 0, "/bin/prog")
	r.Mmap2(1, 10, 0x2000, 0x100, 0x80, "/nowhere/jitted-1-1.so")
	r.Round()
	r.Comm(1, 20, "x", true)
	r.Sample(1, 20, 0x2000)
	f.Add(append([]byte{1}, r.Bytes()...))
	b, err := jitobj.NewBuilder(jitcode.Target{Machine: uint32(elf.EM_X86_64), Order: binary.LittleEndian}, jitobj.Options{})
	if err != nil {
		f.Fatal(err)
	}
	row := jitcode.FrameRow{Known: true, CFA: jitcode.CFA{Reg: 7, Offset: 8}, Saved: []jitcode.SavedReg{{Reg: 16, Offset: -8}}}
	o, err := b.Build(&jitcode.Function{
		Name: []byte("f"), Size: 32, Code: make([]byte, 32), Files: []string{"a"}, Lines: []jitcode.Line{{Line: 1}},
		Origins: []jitcode.Origin{{Name: []byte("f")}, {Name: []byte("g")}}, Inlines: []jitcode.Inline{{Parent: -1, Origin: 1, Last: 1}}, Ranges: []jitcode.Range{{Offset: 4, Size: 4}},
		Unwind: jitcode.Unwind{CIE: jitcode.FrameCIE{CodeAlign: 1, DataAlign: -8, ReturnReg: 16}, Initial: row, Rows: []jitcode.FrameRow{row}},
	}, jitobj.Place{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append([]byte{2}, o.Bytes...))
	if file, err := elf.NewFile(bytes.NewReader(o.Bytes)); err == nil {
		info := file.Section(".debug_info")
		cut := bytes.Clone(o.Bytes)
		cut[info.Offset+info.FileSize-1] = 0xff
		f.Add(append([]byte{2}, cut...))
	}
	for _, path := range []string{"../show/testdata/mono/v1.mlpd.gz", "../show/testdata/mono/v17-all.mlpd.gz"} {
		log := testrec.Gunzip(f, path)
		f.Add(append([]byte{3}, log[:min(len(log), 16<<10)]...))
	}
	for _, name := range []string{"v1-llvm5-events", "v2-llvm6", "v5-events", "v5-llvm14-typed"} {
		f.Add(append([]byte{4}, testrec.Gunzip(f, "../format/xrayfdr/testdata/real/"+name+".xray.gz")...))
	}
	for _, name := range []string{"epoch-232", "four-byte-offsets", "fsd-216", "inline-wide-exc"} {
		b, err := os.ReadFile("../format/j9meta/testdata/" + name + ".bin")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append([]byte{5}, b...))
		f.Add(append([]byte{0}, openJ9Dump(f, b)...))
	}
	rules := verifier().byName
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 || len(in) > 64<<10 {
			return
		}
		opts := Options{Emit: func(c Complaint) {
			if _, ok := rules[c.Rule]; !ok || c.Text == "" {
				t.Errorf("%+v", c)
			}
		}}
		r, src, size, ctx := newReporter("x", &opts, rules), bytes.NewReader(in[1:]), int64(len(in)-1), context.Background()
		switch in[0] % 6 {
		case 0:
			if err := newDumpCheck(r, src, size).check(ctx, "jit-1.dump"); err != nil {
				t.Error(err)
			}
		case 1:
			rec := &recordingFile{src: src, size: size}
			if rec.open("", false) == nil {
				_ = checkOpen(ctx, r, rec, "", nil, nil)
			}
		case 3:
			c := newMonoCheck(r)
			_ = c.check(ctx, src)
		case 4:
			c := &xrayCheck{reporter: r, src: src, size: size}
			_ = c.check(ctx)
		case 5:
			for _, l := range []j9meta.Layout{{Order: binary.LittleEndian, PointerSize: 8}, {Order: binary.BigEndian, PointerSize: 4, Machine: elf.EM_S390}, {Order: binary.LittleEndian, PointerSize: 4, Machine: elf.EM_ARM}} {
				if body := decodeJ9(r, in[1:], 0, 0x7e0000000000, l); body != nil {
					(&j9Check{reporter: r, body: body}).check()
				}
			}
		default:
			checkObject(ctx, r, src, size, "/x/jitted-1-1.so", true)
		}
		r.finish()
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
