package engine_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
	"github.com/jitinject/jitinject/perfdata"
)

// Recordings as perfs and kernels of all times wrote them, on machines of both
// byte orders and widths. Every perf there is must read what becomes of them.
func TestRecording_OldPerfsAndKernels(t *testing.T) {
	forms := map[string]func(r *testrec.Recording){
		"2.6.31": func(r *testrec.Recording) {
			r.AttrSize, r.ShortHeader, r.NoTrailers, r.NoMmap2 = 64, true, true, true
			r.EventTypes = []string{"cpu-clock"}
		},
		"2.6.31, its magic": func(r *testrec.Recording) {
			r.AttrSize, r.OldMagic, r.ShortHeader, r.NoTrailers, r.NoMmap2 = 64, true, true, true, true
			r.EventTypes = []string{"cpu-clock"}
		},
		"old magic": func(r *testrec.Recording) { r.OldMagic = true },
		"2.6.33": func(r *testrec.Recording) {
			r.AttrSize, r.NoTrailers, r.NoMmap2 = 72, true, true
			r.EventTypes = []string{"cpu-clock", "task-clock"}
		},
		"3.4":              func(r *testrec.Recording) { r.AttrSize, r.NoMmap2, r.EventTypes = 80, true, []string{"cpu-clock"} },
		"3.4, system wide": func(r *testrec.Recording) { r.AttrSize, r.NoMmap2, r.SampleType = 80, true, r.SampleType|testrec.CPU },
		"32 bits":          func(r *testrec.Recording) { r.AttrSize, r.NoMmap2, r.Long32 = 96, true, true },
		"32 bits, modern":  func(r *testrec.Recording) { r.Long32 = true },
		"sample_id first":  func(r *testrec.Recording) { r.AttrSize, r.SampleType = 96, r.SampleType|testrec.Identifier|testrec.ID },
		"several ids used": func(r *testrec.Recording) { r.SampleType |= testrec.ID | testrec.StreamID | testrec.CPU },
	}
	for _, size := range []int{64, 72, 80, 96, 104, 112, 120, 128, 136, 144} {
		forms[fmt.Sprintf("attr of %d", size)] = func(r *testrec.Recording) { r.AttrSize = size }
	}
	for name, form := range forms {
		for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
			t.Run(fmt.Sprint(name, " ", order), func(t *testing.T) {
				w := newWorld(t)
				w.Order = order
				form(w.Recording)
				w.newer = w.AttrSize > 128
				h := x86(100)
				if w.AttrSize < 96 {
					// Without a clock in the attr, times are compared by way of the
					// machine's own clock.
					h.Flags = jitdump.ArchTimestamps
					conv := make([]byte, 24)
					order.PutUint64(conv[8:], 1)
					w.Raw(79, 0, conv)
				}
				w.mark(100, 1000, "jit-100.dump")
				if !w.NoTrailers { // without times, mappings count from where they stand
					w.expect(100, 1500, 0x10008, "")
				}
				w.expect(100, 3500, 0x10008, "alpha+0x8")
				w.Round()
				w.expect(100, 4000, 0x20010, "beta+0x10")
				w.dump("jit-100.dump", h, load(2000, 100, 1, 0x10000, "alpha", code(64, 1)), load(3000, 100, 2, 0x20000, "beta", code(64, 2)))
				sum, err := w.run()
				if err != nil {
					t.Fatalf("got %s, %v; want no error", asJSON(sum), err)
				}
				w.resolve(w.opts.Output)
				checkKept(t, w, read(t, w.opts.Input), read(t, w.opts.Output))
			})
		}
	}
}

// checkKept wants what is not about mappings to be the same in a result.
func checkKept(t *testing.T, w *world, in, out []byte) {
	t.Helper()
	open := func(b []byte) *perfdata.File {
		f, err := perfdata.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b := open(in), open(out)
	if !bytes.Equal(in[8:24], out[8:24]) || !w.OldMagic && !bytes.Equal(in[:8], out[:8]) || !bytes.Equal(in[64:104], out[64:104]) && !w.ShortHeader {
		t.Errorf("header % x, was % x", out[:104], in[:104])
	}
	for i := range a.Attrs {
		if !bytes.Equal(a.Attrs[i].Raw, b.Attrs[i].Raw) {
			t.Errorf("attr %d is % x, was % x", i, b.Attrs[i].Raw, a.Attrs[i].Raw)
		}
	}
	types := func(f *perfdata.File, b []byte) []byte {
		s := f.Header.EventTypes
		return b[s.Offset : s.Offset+s.Size]
	}
	if !bytes.Equal(types(a, in), types(b, out)) {
		t.Error("the event types differ")
	}
}
