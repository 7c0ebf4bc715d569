package engine_test

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// j9Listed is metadata of 16 bytes of code, of whose method nothing but the name is
// known: byte code 3 up to 8, byte code 7 from there on.
func j9Listed(t testing.TB, addr uint64, name string) *jitdump.OpenJ9Metadata {
	t.Helper()
	b := &j9meta.Body{
		Layout: j9meta.Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64, HeaderSize: 216},
		Base:   0x500000,
		Header: j9meta.Header{RAMMethod: 0x100, StartPC: addr, EndWarmPC: addr + 16, EndPC: addr + 16},
		Atlas: &j9meta.StackAtlas{NumberOfMapBytes: 1, Monitors: []byte{0}, Maps: []j9meta.StackMap{
			{Low: 0, Info: j9meta.ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 3}, Bits: []byte{0}},
			{Low: 8, Info: j9meta.ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 7}, Bits: []byte{0}},
		}},
	}
	j9gen.Lay(b)
	blob, err := j9gen.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	return &jitdump.OpenJ9Metadata{
		CodeAddr: addr, Base: b.Base, PointerSize: 8, Metadata: blob,
		Methods: []jitdump.JavaMethod{{Method: 0x100, Class: []byte("p/C"), Name: []byte(name), Signature: []byte("(Lp/C;)V")}},
	}
}

// The listing of a method without lines is shown as a source file that a dump brings
// along is. Two bodies of one method each have their own.
func TestJ9_ListingShownByTools(t *testing.T) {
	objdump, addr2line := testrec.Tool(t, "objdump"), testrec.Tool(t, "addr2line")
	w := newWorld(t)
	w.mark(100, 10, "jit-100.dump")
	var recs []timed
	for i, at := range []uint64{0x10000, 0x11000} {
		time := 20 + uint64(i)
		m := j9Listed(t, at, "run")
		if i == 1 { // compiled again, a bit differently
			m = j9Listed(t, at, "run")
			m.Metadata = slices.Clone(m.Metadata)
			at := len(m.Metadata) - 15 // the second map: its offset, then its byte code
			if m.Metadata[at] != 8 {
				t.Fatalf("the second map is not at %d: % x", at, m.Metadata)
			}
			m.Metadata[at] = 12
		}
		recs = append(recs, timed{time, m}, load(time, 100, uint64(i), at, "p.C.run(Lp/C;)V", code(16, byte(i))))
		w.expect(100, 100, at+13, "p.C.run(Lp/C;)V+0xd")
	}
	w.dump("jit-100.dump", x86(100), recs...)
	w.opts.Sources = w.path("sources")
	if sum := w.check(); sum.Dumps[0].Sources != 2 {
		t.Errorf("the summary counts %d sources", sum.Dumps[0].Sources)
	}
	const name = "p.C.run(Lp.C;)V.bytecode"
	files := tree(t, w.opts.Sources)
	if len(files) != 2 || !slices.Contains(files, name) || !strings.HasSuffix(files[0], "/"+name) {
		t.Fatalf("files %q", files)
	}
	for i, want := range []string{"    7: +0x8 to +0x10", "    7: +0xc to +0x10"} {
		object := "jitted-100-" + string(rune('0'+i)) + ".so"
		if out := testrec.Run(t, w.dir, objdump, "-dS", object); !strings.Contains(out, want) {
			t.Errorf("objdump -S does not show %q:\n%s", want, out)
		}
		file, line, _ := strings.Cut(strings.TrimSpace(testrec.Run(t, w.dir, addr2line, "-e", object, "0x8d")), ":")
		text, err := os.ReadFile(file)
		if err != nil || line != "8" || strings.Split(string(text), "\n")[7] != want {
			t.Errorf("addr2line says %s:%s, which has %q, %v", file, line, text, err)
		}
	}
	if perf := testrec.Tool(t, "perf"); perf != "" {
		out, _ := testrec.RunBoth(t, w.dir, perf, "annotate", "--stdio", "-f", "-i", w.opts.Output, "-s", "p.C.run(Lp/C;)V")
		if !strings.Contains(out, "7: +0x8 to +0x10") && !strings.Contains(out, "7: +0xc to +0x10") {
			t.Errorf("perf annotate does not show the listing:\n%s", out)
		}
	}
}
