package engine_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// shownByPerf asks perf script about a result: by process, how many samples of user space
// are in no file or in an object, and how many of those have a name from an object.
func shownByPerf(t *testing.T, dir, perf, result string) map[uint32]report.JitSamples {
	t.Helper()
	shown := make(map[uint32]report.JitSamples)
	for line := range strings.Lines(testrec.Run(t, dir, perf, "script", "-f", "-G", "--no-inline", "-F", "pid,ip,sym,dso", "-i", result)) {
		line = strings.TrimSpace(line)
		pid, rest, _ := strings.Cut(line, " ")
		n, err := strconv.ParseUint(pid, 10, 32)
		if err != nil {
			continue // a sample of -1, or an empty line
		}
		ip, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if addr, err := strconv.ParseUint(ip, 16, 64); err != nil || addr>>63 != 0 {
			continue
		}
		at := strings.LastIndex(rest, " (")
		if at < 0 {
			t.Fatalf("got %q; want a line that ends with a file in parentheses", line)
		}
		sym, dso := strings.TrimSpace(rest[:at]), strings.TrimSuffix(rest[at+2:], ")")
		s := shown[uint32(n)]
		switch base := filepath.Base(dso); {
		case strings.HasPrefix(base, "jitted-") && sym != "[unknown]":
			s.InJIT++
			s.Resolved++
		case strings.HasPrefix(base, "jitted-"), dso == "[unknown]", strings.HasPrefix(dso, "//anon"), strings.HasPrefix(dso, "[anon"), strings.HasSuffix(dso, ".map"), strings.HasPrefix(dso, "/memfd:"):
			s.InJIT++
		}
		shown[uint32(n)] = s
	}
	return shown
}

// The summary counts samples as perf shows them, for recordings of each form, with whole dumps and with dumps
// that lack their last eighth. The gate compares samples in functions for the other recordings and layouts.
func TestSampleCount_AsPerfShows(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	for _, in := range []struct {
		recording, file string
		cut             bool
	}{
		{"node-fp", "perf.data", true}, {"node-forks", "perf.data", false}, {"erlang", "perf.data", true}, {"php-dwarf", "perf.data", true},
		{"lli-hot", "perf.data", true}, {"toyjit-dwarf", "perf.data", true}, {"node-zstd", "perf.data", false},
		{"node-threads", "perf.data.dir", false}, {"node-pipe", "perf.pipe.data", false}, {"node-pidns", "perf.data", false},
		{"node-noclock", "perf.data", false}, {"node-noclock", "mono.data", false},
	} {
		t.Run(in.recording, func(t *testing.T) {
			t.Parallel()
			dir := testrec.Unpack(t, in.recording)
			check := func(what string, layout layout) {
				t.Helper()
				sum, err := engine.Run(t.Context(), config.Options{
					Input: filepath.Join(dir, in.file), Output: filepath.Join(dir, what), Objects: filepath.Join(dir, what+".objects"),
					Bundle: layout.bundle, Sampled: layout.sampled,
				})
				if err != nil {
					t.Fatal(err)
				}
				var shown, dumps report.JitSamples
				for pid, s := range shownByPerf(t, dir, perf, what) {
					if in.recording == "node-threads" && s.InJIT > 0 && pid != sum.Dumps[0].PID {
						continue // the whole machine was recorded
					}
					shown.InJIT += s.InJIT
					shown.Resolved += s.Resolved
				}
				for _, d := range sum.Dumps {
					dumps.InJIT += d.Samples.InJIT
					dumps.Resolved += d.Samples.Resolved
				}
				cut := what == "cut"
				if sum.Samples.JitSamples != shown || dumps != shown || shown.InJIT == 0 || shown.Resolved == 0 && !cut {
					t.Errorf("%s: the summary says %+v, of its dumps %+v; perf shows %+v", what, *sum.Samples, dumps, shown)
				}
				if shown.InJIT == shown.Resolved && cut && (in.recording == "erlang" || in.recording == "node-fp") {
					t.Errorf("seven eighths of the dump: all of %d samples resolve", shown.InJIT)
				}
			}
			check("whole", layout{})
			if !in.cut {
				return
			}
			for _, path := range testrec.Dumps(t, dir) {
				st, err := os.Stat(path)
				if err == nil {
					err = os.Truncate(path, st.Size()/8*7)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			check("cut", layout{bundle: in.recording != "erlang", sampled: true})
		})
	}
}

// Samples at more addresses than a census holds, at addresses that are used again, and in
// recordings without times: they are counted all the same.
func TestSampleCount_UnusualRecordings(t *testing.T) {
	const base = 0x7f1200000000
	begin := func(timed bool) *world {
		w := newWorld(t)
		if !timed {
			w.SampleType = testrec.IP | testrec.TID | testrec.Period
		}
		w.mark(100, 1000, "jit-100.dump")
		w.dump("jit-100.dump", x86(100), load(1500, 100, 0, base, "function", code(0x1000, 1)))
		return w
	}
	t.Run("many addresses", func(t *testing.T) {
		w := begin(true)
		for i := range uint64(50_000) {
			w.Sample(100, 2000+i, base+i)
		}
		sum, err := w.run()
		if err != nil || sum.Samples.Total != 50_000 || sum.Samples.InJIT != 50_000 || sum.Samples.Resolved != 0x1000 {
			t.Errorf("got %s, %v; want no error, Samples.Total = 50_000, Samples.InJIT = 50_000, Samples.Resolved = 0x1000", asJSON(sum), err)
		}
	})
	t.Run("before and after", func(t *testing.T) {
		w := begin(true)
		for i := range uint64(100) {
			w.Sample(100, 1450+i, base)
		}
		sum, err := w.run()
		if err != nil || sum.Samples.InJIT != 100 || sum.Samples.Resolved != 50 {
			t.Errorf("got %s, %v; want no error, Samples.InJIT = 100, Samples.Resolved = 50", asJSON(sum), err)
		}
	})
	t.Run("a file comes in its place", func(t *testing.T) {
		w := begin(true)
		for i := range uint64(100) {
			if i == 70 {
				w.Mmap2(100, 1600+i, base, 0x1000, 0, "/usr/lib/libc.so.6")
			}
			w.Sample(100, 1600+i, base)
		}
		sum, err := w.run()
		if err != nil || sum.Samples.InJIT != 70 || sum.Samples.Resolved != 70 {
			t.Errorf("got %s, %v; want no error, Samples.InJIT = 70, Samples.Resolved = 70", asJSON(sum), err)
		}
	})
	t.Run("without times", func(t *testing.T) {
		w := begin(false)
		w.Sample(100, 0, base+4)
		w.Sample(100, 0, base+0x1000)
		w.Sample(100, 0, ^uint64(0)>>1)
		sum, err := w.run()
		if err != nil || sum.Samples.Total != 3 || sum.Samples.InJIT != 3 || sum.Samples.Resolved != 1 {
			t.Errorf("got %+v, %v; want no error, Samples.Total = 3, Samples.InJIT = 3, Samples.Resolved = 1", sum.Samples, err)
		}
	})
	t.Run("not counted", func(t *testing.T) {
		w := begin(true)
		w.Sample(100, 2000, base)
		w.opts.NoCount = true
		sum, err := w.run()
		if err != nil || sum.Samples != nil || sum.Dumps[0].Samples != nil || len(sum.Reasons) != 0 {
			t.Errorf("got %s, %v; want no error, no Samples, no Dumps[0].Samples, no reasons", asJSON(sum), err)
		}
	})
	t.Run("a function without object", func(t *testing.T) {
		for _, bundle := range []bool{false, true} {
			w := begin(true)
			w.dump("jit-100.dump", x86(100), load(1500, 100, 0, base, "function", code(64, 1)), load(1500, 100, 1, base+64, "other", code(64, 1)))
			w.Sample(100, 2000, base)
			w.Sample(100, 2000, base+64)
			w.opts.Objects, w.opts.Bundle = w.path("objects"), bundle
			if err := os.MkdirAll(w.path("objects/jitted-100-1.so"), 0o755); err != nil { // which no file can replace
				t.Fatal(err)
			}
			sum, err := w.run()
			if err != nil || sum.Samples.InJIT != 2 || sum.Samples.Resolved != int64(sum.Objects)+map[bool]int64{true: 1}[bundle] {
				t.Errorf("got %s, %v; want no error, Samples.InJIT = 2, Samples.Resolved = int64(Objects)+map[bool]int64{true: 1}[bundle]", asJSON(sum), err)
			}
		}
	})
}
