package export

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/testrec"
)

// parsePprof returns what pprof's own package reads.
func parsePprof(t *testing.T, p *profile.Profile) *pprof.Profile {
	t.Helper()
	read, err := pprof.ParseData(write(t, "pprof", p))
	if err != nil {
		t.Fatal(err)
	}
	if err := read.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return read
}

// toolPprof returns what go tool pprof prints about a profile.
func toolPprof(t *testing.T, p *profile.Profile, options ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.pb.gz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(file, "pprof", p, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testrec.Tool(t, "go"), append(append([]string{"tool", "pprof"}, options...), path)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir(), "PPROF_BINARY_PATH="+t.TempDir())
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go tool pprof %s: %v\n%s", options, err, complaints.String())
	}
	return string(out)
}

func TestPprof_ToolTop(t *testing.T) {
	top := toolPprof(t, recorded(), "-top", "-nodecount=100")
	for _, want := range []string{
		`(?m)^File: node$`,
		`(?m)^Type: cpu-clock:u$`,
		`Total samples = 7ms `,
		`(?m)^ +2ms 28\.57% .* add \(inline\)$`,
		`(?m)^ +1ms 14\.29% .* 3ms 42\.86%  run$`,
		`(?m)^ +0 .* 5ms 71\.43%  main$`,
		`(?m)^ +1ms 14\.29% .*  \[libc\.so\.6\]$`,
		`(?m)^ +1ms 14\.29% .*  \[unknown\]$`,
	} {
		if !regexp.MustCompile(want).MatchString(top) {
			t.Errorf("got:\n%swant %s", top, want)
		}
	}
	if samples := toolPprof(t, recorded(), "-top", "-sample_index=samples"); !regexp.MustCompile(`(?m)^ +2 28\.57% .* add \(inline\)$`).MatchString(samples) {
		t.Errorf("got:\n%swant 2 samples in add", samples)
	}
}

func TestPprof_ToolPeekAndLines(t *testing.T) {
	peek := toolPprof(t, recorded(), "-peek", "^add$")
	if !regexp.MustCompile(`2ms +100% \| +run \(inline\)`).MatchString(peek) {
		t.Errorf("got:\n%swant run as the caller that add is inlined into", peek)
	}
	lines := toolPprof(t, recorded(), "-top", "-lines")
	for _, want := range []string{"add /src/lib.js:2 (inline)", "run /src/x.js:5", "run /src/x.js:4"} {
		if !strings.Contains(lines, want) {
			t.Errorf("got:\n%swant %s", lines, want)
		}
	}
}

func TestPprof_ToolLabels(t *testing.T) {
	for label, want := range map[string]string{
		"comm":  `(?m)^ .* 2ms 28\.57%  node worker$`,
		"tid":   `(?m)^ .* 2ms 28\.57%  11$`,
		"pid":   `(?m)^ .* 6ms 85\.71%  9$`,
		"event": `(?m)^ .* 7ms   100%  cpu-clock:u$`,
	} {
		if top := toolPprof(t, recorded(), "-top", "-tagroot="+label); !regexp.MustCompile(want).MatchString(top) {
			t.Errorf("-tagroot=%s: got:\n%swant %s", label, top, want)
		}
	}
}

func TestPprof_ToolRaw(t *testing.T) {
	raw := toolPprof(t, recorded(), "-raw")
	for _, want := range []string{
		"0x7f0040 M=3 add /src/lib.js:2:0 s=1\n             add /src/lib.js:2:0 s=1\n             run /src/x.js:5:0 s=3(*run x.js:3)\n",
		"Comment: command: /usr/bin/perf record -F 1000 -g -- node x.js\n",
		"Comment: lost samples: 3\n",
		"PeriodType: cpu-clock:u nanoseconds\nPeriod: 1000000\n",
		"\n1: 0x0/0x0/0x0 /usr/bin/node  [FN][FL][LN][IN]\n",
	} {
		if !strings.Contains(raw, want) {
			t.Errorf("got:\n%swant:\n%s", raw, want)
		}
	}
	toolPprof(t, hostile(), "-raw")
	toolPprof(t, hostile(), "-top")
}

// Each event has a column of its own, with its unit.
func TestPprof_SeveralEvents(t *testing.T) {
	p := recorded()
	p.Events = []string{"unused", "cycles:u", "task-clock"}
	for i := range p.Samples {
		p.Samples[i].Event = 2
	}
	p.Samples[0].Event, p.Samples[0].Period = 1, 700
	read := parsePprof(t, p)
	var columns []string
	sums := make([]int64, len(read.SampleType))
	for _, c := range read.SampleType {
		columns = append(columns, c.Type+" "+c.Unit)
	}
	for _, s := range read.Sample {
		for i, v := range s.Value {
			sums[i] += v
		}
	}
	if want := []string{"samples count", "cycles:u count", "task-clock nanoseconds"}; !slices.Equal(columns, want) {
		t.Errorf("got columns %q; want %q", columns, want)
	}
	if want := []int64{7, 700, 6e6}; !slices.Equal(sums, want) {
		t.Errorf("got sums %d; want %d", sums, want)
	}
	if read.DefaultSampleType != "task-clock" || read.DurationNanos != 5e6 {
		t.Errorf("got %s, %d ns; want that with the most samples, 5 ms", read.DefaultSampleType, read.DurationNanos)
	}
}

// Each object has one mapping, and the program's is first. pprof does not merge those of two objects.
func TestPprof_Mappings(t *testing.T) {
	p := &profile.Profile{
		Recording: profile.Recording{Command: "perf record ./prog"},
		Events:    []string{"cycles"},
		Threads:   []profile.Thread{{PID: 1, TID: 1, Process: "sh", Name: "sh"}},
	}
	objects := []string{"/lib/libc.so", "/tmp/jitted-0.so", "/usr/bin/prog", "/usr/bin/prog", "[kernel.kallsyms]", "/lib/libc.so"}
	for i, object := range objects {
		kind := profile.Native
		if i == 1 {
			kind = profile.JIT
		}
		p.Functions = append(p.Functions, profile.Function{Name: object, Object: object, Kind: kind})
		p.Frames = append(p.Frames, profile.Frame{Function: i, Addr: uint64(0x1000 * i)})
		p.Stacks = append(p.Stacks, profile.Stack{Caller: i - 1, Frame: i})
	}
	p.Samples = []profile.Sample{{Stack: len(p.Stacks) - 1, Period: 1}}
	read := parsePprof(t, p)
	merged, err := pprof.Merge([]*pprof.Profile{read, read})
	if err != nil {
		t.Fatal(err)
	}
	for _, read := range []*pprof.Profile{read, merged} {
		counts := make(map[string]int)
		for _, m := range read.Mapping {
			counts[m.File]++
		}
		if want := map[string]int{"/usr/bin/prog": 1, "/lib/libc.so": 1, "/tmp/jitted-0.so": 1, "[kernel.kallsyms]": 1}; !maps.Equal(counts, want) {
			t.Errorf("got mappings %v; want %v", counts, want)
		}
		if read.Mapping[0].File != "/usr/bin/prog" {
			t.Errorf("got %s as the first mapping; want the program", read.Mapping[0].File)
		}
		for _, l := range read.Location {
			if name := l.Line[0].Function.Name; l.Mapping == nil || l.Mapping.File != name {
				t.Errorf("got location %#x of %s in %v; want it in its object", l.Address, name, l.Mapping)
			}
		}
	}
}

// The kernel keeps 15 bytes of a program's name.
func TestMainObject_Names(t *testing.T) {
	native := func(objects ...string) *profile.Profile {
		p := recorded()
		p.Functions = nil
		for _, object := range objects {
			p.Functions = append(p.Functions, profile.Function{Object: object, Kind: profile.Native})
		}
		return p
	}
	for _, c := range []struct {
		name    string
		process string
		command string
		objects []string
		want    string
	}{
		{"process", "node", "perf record node", []string{"/lib/libc.so", "/usr/bin/node"}, "/usr/bin/node"},
		{"cut name", "averyverylongpr", "", []string{"/lib/libc.so", "/bin/averyverylongprogram"}, "/bin/averyverylongprogram"},
		{"renamed", "MainThread", "perf record -- /usr/bin/node x.js", []string{"/lib/libc.so", "/usr/bin/node"}, "/usr/bin/node"},
		{"neither", "x", "", []string{"[vdso]", "/lib/libc.so"}, "/lib/libc.so"},
		{"none", "x", "", nil, ""},
	} {
		p := native(c.objects...)
		p.Recording.Command = c.command
		for i := range p.Threads {
			p.Threads[i].Process = c.process
		}
		if got := mainObject(p); got != c.want {
			t.Errorf("%s: got %q; want %q", c.name, got, c.want)
		}
	}
}

// A file has a number for each event in each sample. Where these would be too many, there is an error, and
// what samples without other events take is no matter.
func TestPprof_ManyEvents(t *testing.T) {
	for _, c := range []struct {
		events, samples int
		want            bool
	}{{3000, 3000, false}, {3000, 100, true}, {1, 10000, true}} {
		p := recorded()
		p.Events, p.Samples = nil, nil
		for i := range c.events {
			p.Events = append(p.Events, fmt.Sprint("event", i))
		}
		for i := range max(c.events, c.samples) {
			stack := 0
			if c.samples > c.events {
				stack = i % len(p.Stacks)
			}
			p.Samples = append(p.Samples, profile.Sample{Stack: stack, Event: i % min(c.events, c.samples)})
		}
		if err := Write(io.Discard, "pprof", p, Options{}); (err == nil) != c.want {
			t.Errorf("got %v for %d samples of %d events; want success: %v", err, c.samples, c.events, c.want)
		}
	}
}
