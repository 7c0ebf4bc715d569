package jitdump_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// The byte before HotSpot's return barrier has the row of enterSpecial's frame. Its size and the marks
// in it come from the code, here that of JDK 27.0.1; JDK 21.0.13 and 25 differ in the offset of
// JavaThread::_cont_entry.
func TestVirtualThreads_ReturnBarrier(t *testing.T) {
	const (
		thaw    = "59" + "488be3" + "4883ec10" + "5d" + "c3" // pop rcx; mov rsp, rbx; sub rsp, 16; pop rbp; ret
		barrier = "498ba7b0050000" + "50" + "488be3" + "5d" + "c3"
		enter   = "58" + "4883e4f0" + "50" + // pop rax; and rsp, -16; push rax
			"55" + "488bec" + "4883ec40" + "498b87b0050000" + "4889442408" + "4989a7b0050000" +
			"4889742410" + "894c2420" + "48c744241800000000" + "c744242400000000" + "c744243000000000" + "c3"
	)
	entry := jitcode.Marked{Reg: 7, Offset: 80, Zero: 0x18, One: 0x20}
	for name, c := range map[string]struct {
		change func(code string) string
		want   jitcode.Marked
	}{
		"JDK 27":                {func(code string) string { return code }, entry},
		"a larger entry":        {func(code string) string { return strings.Replace(code, "4883ec40", "4883ec50", 1) }, jitcode.Marked{Reg: 7, Offset: 96, Zero: 0x18, One: 0x20}},
		"another thread's":      {func(code string) string { return strings.Replace(code, "4989a7b0", "4989a7b8", 1) }, jitcode.Marked{}},
		"no argument size":      {func(code string) string { return strings.Replace(code, "c7442424", "c7442434", 1) }, jitcode.Marked{}},
		"a chunk that is not 0": {func(code string) string { return strings.Replace(code, "48c744241800", "48c744241801", 1) }, jitcode.Marked{}},
		"no frame":              {func(code string) string { return strings.Replace(code, "4883ec40", "90909090", 1) }, jitcode.Marked{}},
		"not before the barrier": {func(code string) string {
			return strings.Replace(code, thaw, thaw+"90", 1)
		}, jitcode.Marked{}},
	} {
		b := newDump(t, x86)
		at := uint64(0x1000)
		for _, f := range []struct{ name, code string }{{"cont_thaw_stub (stub gen)", thaw}, {"cont_returnBarrier_stub (stub gen)", barrier}, {"jdk.internal.vm.Continuation.enterSpecial", enter}} {
			code, err := hex.DecodeString(c.change(f.code))
			if err != nil {
				t.Fatal(err)
			}
			b.code(f.name, at, code)
			at += uint64(len(code))
		}
		d := b.scan()
		d.DeriveFrames(source.Surroundings{})
		fn, err := d.Reader().Function(0)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(fn.Unwind.Rows, func(r jitcode.FrameRow) bool { return r.CFA.Marked.Offset != 0 })
		if c.want == (jitcode.Marked{}) {
			if i >= 0 {
				t.Errorf("%s: got row %+v", name, fn.Unwind.Rows[i])
			}
			continue
		}
		if want := (jitcode.CFA{Reg: 6, Offset: 16, Marked: c.want}); i < 0 || fn.Unwind.Rows[i].CFA != want || fn.Unwind.Rows[i].Offset != fn.Size-1 {
			t.Errorf("%s: got rows %+v; want the last byte's CFA %+v", name, fn.Unwind.Rows, want)
		}
	}
}
