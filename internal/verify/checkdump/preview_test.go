package checkdump_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/printed"
)

// A dump has any name. Verify and an injection agree on whether the recording has its marker.
func TestMarker_OfDumpWithAnotherName(t *testing.T) {
	for _, c := range []struct {
		length, offset u64
		marks          bool
	}{{0x1000, 0, true}, {0x10000, 0, true}, {0x11000, 0, false}, {0x1000, 0x1000, false}} {
		dir := t.TempDir()
		r := testrec.NewRecording()
		r.Mmap2(dumpPID, 4_000_000, 0x7f1000000000, c.length, c.offset, "/elsewhere/prog-code.bin")
		r.Sample(dumpPID, 6_000_000, a+0x20)
		dump, recording := write(t, dir, "prog-code.bin", full().b), write(t, dir, "perf.data", r.Bytes())
		sum, err := engine.Run(t.Context(), config.Options{Input: recording, Preview: true, Force: true})
		if err != nil {
			t.Fatal(err)
		}
		rules, all := verified(t, dump, verify.Options{Recording: recording})
		if found := len(sum.Dumps) == 1; found != c.marks || slices.Contains(rules, "dump/marker") == c.marks {
			t.Errorf("%#x bytes at offset %#x: got injected %v, and %+v from verify; want both to know the marker: %v", c.length, c.offset, found, all, c.marks)
		}
	}
}

// Faults between a dump and a recording that is not injected are in the preview of the recording, with the
// samples that they cost.
func TestPreview_FaultsBesideRecording(t *testing.T) {
	program := func(r *testrec.Recording, marker string) {
		r.Mmap2(dumpPID, 4_000_000, 0x400000, 0x1000, 0, "/bin/prog")
		r.Marker(dumpPID, 4_000_000, marker)
	}
	for want, record := range map[string]func(r *testrec.Recording, marker string){
		"will show 0 of 1 sample in jitted code\n    DUMP: its times can be matched only roughly with those of the recording": func(r *testrec.Recording, marker string) {
			r.ClockID = -1
			r.Marker(dumpPID, 5_000_000, marker)
			r.Sample(dumpPID, 6_000_000, 1)
		},
		"DUMP: all its records are older than its mapping in process 4711": func(r *testrec.Recording, marker string) {
			r.Marker(dumpPID, 900e9, marker)
			r.Sample(dumpPID, 901e9, 1)
		},
		"will show 1 of 21 samples in jitted code\n    20 samples in code that a dump describes only later\n": func(r *testrec.Recording, marker string) {
			r.Marker(dumpPID, 4_000_000, marker)
			for i := range u64(20) {
				r.Sample(dumpPID, 4_500_000+i, a+0x20)
			}
			r.Sample(dumpPID, 6_000_000, a+0x20)
		},
		"DUMP: none of the 20 samples of process 4711 in JIT memory are in its functions": func(r *testrec.Recording, marker string) {
			program(r, marker)
			for i := range u64(20) {
				r.Sample(dumpPID, 6_000_000+i, 0x7fff00000000+i)
			}
		},
		"DUMP: none of its code is where process 4711 had executable memory": func(r *testrec.Recording, marker string) {
			program(r, marker)
			r.Mmap2(dumpPID, 4_100_000, 0x7fff00000000, 0x1000, 0, "//anon")
			r.Sample(dumpPID, 6_000_000, 0x400010)
		},
	} {
		dump, opts := beside("", record).Make(t, t.TempDir())
		p := printed.Preview{Recording: opts.Recording}
		p.Summary, p.Err = engine.Run(t.Context(), config.Options{Input: opts.Recording, Preview: true, Force: true})
		var text strings.Builder
		out := printed.Output{W: &text}
		out.Preview(&p)
		if got := strings.ReplaceAll(text.String(), dump, "DUMP"); !strings.Contains(got, want) || !p.ToDo() {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
