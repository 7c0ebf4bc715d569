package profile

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// perf drops a stack that has an impossible address. The function in which such a sample was taken is
// known all the same.
func TestRead_StackDropped(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	file := injected(t, "php", false)
	stacks := testrec.Run(t, filepath.Dir(file), perf, "script", "-f", "--no-inline", "-F", "period,ip,sym", "-i", file)
	if !strings.Contains(stacks, "1001001 \n\n") {
		testrec.Skip(t, "this perf shows a stack for each sample")
	}
	p := read(t, Options{Perf: perf, Path: file, Force: true})
	for i := range p.Samples {
		if p.Samples[i].Stack < 0 {
			t.Errorf("sample %d: got no frame; want that of its address", i)
		}
	}
	if len(p.Recording.Warnings) > 0 {
		t.Errorf("got warnings %q; want none", p.Recording.Warnings)
	}
}

// setPrecise marks the first event of a recording as one with precise addresses.
func setPrecise(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	attrs := binary.LittleEndian.Uint64(content[24:]) // offset of the first perf_event_attr
	content[attrs+41] |= 1 << (flagPrecise - 8)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A precise address is where the sample was taken. The stack begins later: in the same function, or in
// another one, which is then a caller.
func TestRead_PreciseAddresses(t *testing.T) {
	file := injected(t, "toyjit", true)
	text := func(name, content string) string {
		path := filepath.Join(filepath.Dir(file), name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stacks := text("stacks", "1/1 1.000000000: 1 cycles: \n\t 14 f+0x4 (/a+0x14)\n\t 50 main+0x0 (/a+0x50)\n\n"+
		"1/1 2.000000000: 1 cycles: \n\t 14 f+0x4 (/a+0x14)\n\t 50 main+0x0 (/a+0x50)\n\n"+
		"1/1 3.000000000: 1 cycles: \n\t 14 f+0x4 (/a+0x14)\n\t 50 main+0x0 (/a+0x50)\n\n")
	// The second sample is of another time, so that the texts do not fit together there.
	addresses := text("addresses", "1/1 1.000000000: 1 cycles: 10 f+0x0 (/a+0x10)\n1/1 2.500000000: 1 cycles: 10 f+0x0 (/a+0x10)\n"+
		"1/1 3.000000000: 1 cycles: 30 g+0x0 (/a+0x30)\n")
	perf := program(t, helped+`case "$*" in *" -G"*) cat `+addresses+`;; *) cat `+stacks+`;; esac`)
	for _, isPrecise := range []bool{false, true} {
		want := []string{"f 14, main 50", "f 14, main 50", "f 14, main 50"}
		if isPrecise {
			setPrecise(t, file)
			want = []string{"f 10, main 50", "f 14, main 50", "g 30, f 14, main 50"}
		}
		p := read(t, Options{Perf: perf, Path: file, Force: true})
		for i := range p.Samples {
			var frames []string
			for _, f := range p.frames(&p.Samples[i]) {
				frames = append(frames, p.Functions[f.Function].Symbol+" "+strconv.FormatUint(f.Addr, 16))
			}
			if got := strings.Join(frames, ", "); got != want[i] {
				t.Errorf("precise %v: sample %d: got %s; want %s", isPrecise, i, got, want[i])
			}
		}
	}
}
