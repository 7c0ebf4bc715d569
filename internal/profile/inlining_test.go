package profile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/testrec"
)

// injected returns the path of a result of a recording of the test data.
func injected(t *testing.T, name string, bundle bool) string {
	t.Helper()
	dir := testrec.Place(t, name)
	out := filepath.Join(dir, "out.data")
	opts := inject.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: filepath.Join(dir, "objects"), Bundle: bundle, Force: true}
	if name == "v8log-node25" {
		opts.SideFiles = []inject.SideFile{{Kind: "v8log", Path: filepath.Join(dir, "v8.log")}}
	}
	if _, err := inject.Run(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	return out
}

// read reads a profile.
func read(t *testing.T, opts Options) *Profile {
	t.Helper()
	p, err := Read(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// frames returns the frames of a sample, the innermost first.
func (p *Profile) frames(s *Sample) (frames []Frame) {
	for i := s.Stack; i >= 0; i = p.Stacks[i].Caller {
		frames = append(frames, p.Frames[p.Stacks[i].Frame])
	}
	return frames
}

// jitted returns the jitted frames of each sample as texts, with or without the calls that were inlined.
func jitted(p *Profile, withInlined bool) (samples []string) {
	for i := range p.Samples {
		s := &p.Samples[i]
		text := fmt.Sprintf("%d/%d %d:", p.Threads[s.Thread].PID, p.Threads[s.Thread].TID, s.Time)
		var calls []string // of the next function outwards
		for _, f := range p.frames(s) {
			fn := &p.Functions[f.Function]
			if !recording.IsObject([]byte(fn.Object)) {
				continue
			}
			if f.Inlined {
				if withInlined {
					calls = append(calls, fn.Symbol)
				}
				continue
			}
			for _, symbol := range calls {
				text += "\n\t" + symbol
				if symbol != fn.Symbol { // perf takes a function inlined into itself for the function
					text += " (inlined)"
				}
			}
			text += "\n\t" + fn.Symbol
			calls = nil
		}
		samples = append(samples, text)
	}
	return samples
}

// jittedOfPerf returns the same of perf script with inlining, and the number of inlined frames.
func jittedOfPerf(t *testing.T, perf, file string) (samples []string, inlined int) {
	t.Helper()
	args := []string{"script", "-f", "--ns", "-F", judge.Fields, "-i", file}
	if help, _ := testrec.Command(t, filepath.Dir(file), perf, "script", "-h").CombinedOutput(); strings.Contains(string(help), "--addr2line") {
		// perf prefers the one beside it, which may need libraries of its own.
		args = append(args, "--addr2line", testrec.Tool(t, "addr2line"))
	}
	script := testrec.Run(t, filepath.Dir(file), perf, args...)
	parsed, err := judge.Parse(strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	for i := range parsed {
		s := &parsed[i]
		text := fmt.Sprintf("%d/%d %d:", s.PID, s.TID, s.Time)
		var calls []string // of the next function outwards
		for j := range s.Frames {
			f := &s.Frames[j]
			if f.Inlined {
				calls = append(calls, withoutOffset(f.Symbol))
				continue
			}
			if recording.IsObject([]byte(f.DSO)) {
				for _, symbol := range calls {
					text += "\n\t" + symbol
					if symbol != f.Symbol {
						text += " (inlined)"
					}
				}
				text += "\n\t" + cmp.Or(f.Symbol, unknownSymbol)
				inlined += len(calls)
			}
			calls = nil
		}
		samples = append(samples, text)
	}
	return samples, inlined
}

// withoutOffset cuts the distance that perf prints after symbols.
func withoutOffset(symbol string) string {
	before, _, _ := cutOffset([]byte(symbol))
	return string(before)
}

// wantAsPerf compares the jitted frames of all samples with perf script's, and returns how many of
// those are inlined.
//
// shows is false if this perf shows no inlined frames in the recording.
func wantAsPerf(t *testing.T, perf, file string, shows bool) int {
	t.Helper()
	want, inlined := jittedOfPerf(t, perf, file)
	got := jitted(read(t, Options{Perf: perf, Path: file, Force: true}), shows)
	if len(got) != len(want) {
		t.Fatalf("got %d samples; perf script has %d", len(got), len(want))
	}
	differ := 0
	for i := range got {
		if got[i] != want[i] {
			if differ++; differ <= 3 {
				t.Errorf("got %s\nperf script with inlining has %s", got[i], want[i])
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d samples differ", differ, len(want))
	}
	return inlined
}

// Our inlined calls are those that perf shows when it asks addr2line or libdw itself. perf 6 does so for
// copies of stacks only.
func TestInlinedCalls_AsPerfShowsThem(t *testing.T) {
	for _, c := range []struct {
		name   string
		copies bool // of stacks
		least  int  // inlined frames
	}{{"toyjit-dwarf", true, 80}, {"v8log-node25", false, 30}, {"php84-dwarf", true, 0}, {"llvm-orc", true, 0}} {
		for _, bundle := range []bool{false, true} {
			file := injected(t, c.name, bundle)
			for version, perf := range testrec.Perfs(t) {
				t.Run(fmt.Sprintf("%s bundle=%v %s", c.name, bundle, version), func(t *testing.T) {
					shows := c.copies || !strings.HasPrefix(version, "6.")
					if n := wantAsPerf(t, perf, file, shows); n < c.least && shows {
						t.Errorf("perf script shows %d inlined frames; want at least %d to compare with", n, c.least)
					}
				})
			}
		}
	}
}

// Samples are those that perf report counts, function by function.
func TestCounts_AsPerfReport(t *testing.T) {
	file := injected(t, "node-hot", true)
	for version, perf := range testrec.Perfs(t) {
		t.Run(version, func(t *testing.T) {
			want := make(map[string]int)
			report := testrec.Run(t, filepath.Dir(file), perf, "report", "--stdio", "-n", "-g", "none", "--no-children", "--no-inline", "--sort", "sym", "-f", "-t", "\x1f", "-i", file)
			for line := range strings.Lines(report) {
				columns := strings.Split(strings.TrimSpace(line), "\x1f")
				if len(columns) < 3 || strings.HasPrefix(line, "#") {
					continue
				}
				var n int
				if _, err := fmt.Sscan(columns[1], &n); err != nil {
					t.Fatalf("perf report: %q: %v", line, err)
				}
				_, symbol, _ := strings.Cut(columns[2], "] ")
				if strings.HasPrefix(symbol, "0x") {
					symbol = unknownSymbol
				}
				want[symbol] += n
			}
			p := read(t, Options{Perf: perf, Path: file, Force: true})
			got := make(map[string]int)
			for i := range p.Samples {
				frames := p.frames(&p.Samples[i])
				at := slices.IndexFunc(frames, func(f Frame) bool { return !f.Inlined })
				got[p.Functions[frames[at].Function].Symbol]++
			}
			if len(want) < 10 {
				t.Fatalf("perf report has %d functions; want at least 10", len(want))
			}
			for symbol, n := range want {
				if got[symbol] != n {
					t.Errorf("%s: got %d samples; perf report counts %d", symbol, got[symbol], n)
				}
			}
			if len(p.Recording.Warnings) > 0 {
				t.Errorf("got warnings %q; want none", p.Recording.Warnings)
			}
		})
	}
}
