package judge

import (
	"compress/gzip"
	"os"
	"reflect"
	"strings"
	"testing"
)

// recorded returns the samples of a stored text of perf script: see testdata/README.md.
func recorded(t *testing.T, name string) []Sample {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := Parse(z)
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

func TestParse_TextOfThreePerfs(t *testing.T) {
	for _, c := range []struct {
		name string
		want Count
	}{
		{"php-6.1-inject", Count{Samples: 7, Frames: 66, Whole: 3, Jitted: 4, Named: 2}},
		{"php-6.12-inject", Count{Samples: 7, Frames: 66, Whole: 3, Jitted: 4, Named: 2}},
		{"php-7.2-inject", Count{Samples: 7, Frames: 66, Whole: 3, Jitted: 4, Named: 2}},
		{"php-6.1-ours", Count{Samples: 7, Frames: 98, Whole: 7, Jitted: 4, JittedWhole: 4, Named: 2}},
		{"php-6.12-ours", Count{Samples: 7, Frames: 98, Whole: 7, Jitted: 4, JittedWhole: 4, Named: 2}},
		{"php-7.2-ours", Count{Samples: 7, Frames: 98, Whole: 7, Jitted: 4, JittedWhole: 4, Named: 2}},
		{"node-6.1-inject", Count{Samples: 10, Frames: 268, Whole: 9, Jitted: 10, JittedWhole: 9, Named: 9}},
		{"node-6.12-inject", Count{Samples: 10, Frames: 267, Whole: 9, Jitted: 10, JittedWhole: 9, Named: 9}},
		{"node-7.2-inject", Count{Samples: 10, Frames: 98, Jitted: 10, Named: 9}},
		{"node-7.2-ours", Count{Samples: 10, Frames: 233, Whole: 9, Jitted: 10, JittedWhole: 9, Named: 9}},
	} {
		if got := CountOf(recorded(t, c.name)); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestParse_FirstAndLastFrameOfPerf61(t *testing.T) {
	samples := recorded(t, "php-6.1-ours")
	last := samples[len(samples)-1]
	head := Sample{Comm: "php", PID: 4738, TID: 4738, Time: 3536214257309, Event: "cpu-clock:ppp", Frames: last.Frames}
	if !reflect.DeepEqual(last, head) {
		t.Errorf("got %+v, want %+v", last, head)
	}
	for at, want := range map[int]Frame{
		0: {Addr: 0xcf, Symbol: "TRACE-1$collatz$2", Offset: 0x4f, DSO: "/tmp/rec/php/obj/jitted-4738-39.so"},
		4: {Addr: 0x3ed1bb, DSO: "/usr/bin/php8.2"},
		7: {Addr: 0x27304, Symbol: "__libc_start_main@@GLIBC_2.34", Offset: 0x84, DSO: "/usr/lib/x86_64-linux-gnu/libc.so.6"},
	} {
		if last.Frames[at] != want {
			t.Errorf("frame %d: got %+v, want %+v", at, last.Frames[at], want)
		}
	}
}

func TestParse_UnusualLines(t *testing.T) {
	text := strings.Join([]string{
		"V8 DefaultWorke 12/13     4.000000005: cpu-clock:pppH: ",
		"\t    7f00 JS:*f /a (b)/x.js:1:2+0x1f (/tmp/my dir (1)/jitted-12-3.so)",
		"  x.js:1",
		"\t    7f01 operator()(int) const+0x2 (/usr/bin/a (deleted))",
		"\t    7f02 [unknown] (/dev/zero (deleted))",
		"\t    7f03 isPrime (inlined)",
		"\t    7f04 noOffset (/usr/bin/b (deleted))",
		"\tffffffffffffffff [unknown] ([unknown])",
		"",
		"            node   538/539    4537.963809: cpu-clock:      7f39 JS:*hot /a.js:9:13+0x19b (/tmp/jitted-538-1.so)",
		"  a.js:13",
		"     7/7     1.000001:  sched:sched_switch: ",
		"",
	}, "\n")
	want := []Sample{
		{Comm: "V8 DefaultWorke", PID: 12, TID: 13, Time: 4000000005, Event: "cpu-clock:pppH", Frames: []Frame{
			{Addr: 0x7f00, Symbol: "JS:*f /a (b)/x.js:1:2", Offset: 0x1f, DSO: "/tmp/my dir (1)/jitted-12-3.so", Line: "x.js:1"},
			{Addr: 0x7f01, Symbol: "operator()(int) const", Offset: 2, DSO: "/usr/bin/a (deleted)"},
			{Addr: 0x7f02, DSO: "/dev/zero (deleted)"},
			{Addr: 0x7f03, Symbol: "isPrime", Inlined: true},
			{Addr: 0x7f04, Symbol: "noOffset", DSO: "/usr/bin/b (deleted)"},
			{Addr: 1<<64 - 1, DSO: "[unknown]"},
		}},
		{Comm: "node", PID: 538, TID: 539, Time: 4537963809000, Event: "cpu-clock", Frames: []Frame{
			{Addr: 0x7f39, Symbol: "JS:*hot /a.js:9:13", Offset: 0x19b, DSO: "/tmp/jitted-538-1.so", Line: "a.js:13"},
		}},
		{PID: 7, TID: 7, Time: 1000001000, Event: "sched:sched_switch"},
	}
	got, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParse_ErrorsSayWhere(t *testing.T) {
	const head = "php 1/1 1.000001: cpu-clock: \n"
	for _, c := range []struct{ name, text, want string }{
		{"frame first", "\t 1f main+0x1 (/bin/a)\n", "line 1: a frame before the first sample"},
		{"no address", head + "\t main+0x1 (/bin/a)\n", "line 2: a frame without an address"},
		{"address too large", head + "\t 11111111111111111 main+0x1 (/bin/a)\n", "line 2: a frame without an address"},
		{"offset too large", head + "\t 1f main+0x11111111111111111 (/bin/a)\n", "line 2: strconv"},
		{"no file", head + "\t 1f main+0x1\n", "line 2: a frame without a file"},
		{"file not closed", head + "\t 1f main+0x1 (/bin/a\n", "line 2: a frame without a file"},
		{"neither", head + "no samples\n", "line 2: neither a sample nor a frame"},
		{"two source lines", head + "\t 1f main+0x1 (/bin/a)\n  a.c:1\n  a.c:2\n", "line 4: neither a sample nor a frame"},
		{"pid too large", "php 99999999999999999999/1 1.000001: cpu-clock: \n", "line 1: strconv"},
	} {
		if _, err := Parse(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestWhole_LastFrameDecides(t *testing.T) {
	for symbol, want := range map[string]bool{
		"_start": true, "__libc_start_main@@GLIBC_2.34": true, "__libc_start_call_main": true, "clone": true, "clone3": true, "__clone3": true,
		"start_thread": true, "": false, "restart": false, "clone_node": false, "JS:*_start /a.js:1:1": false, "start": false,
	} {
		s := Sample{Frames: []Frame{{Symbol: "leaf"}, {Symbol: symbol}}}
		if got := s.Whole(); got != want {
			t.Errorf("a stack that ends in %q: got %v, want %v", symbol, got, want)
		}
		s.Frames = append(s.Frames, Frame{Addr: 1<<64 - 1, DSO: "[unknown]"})
		if s.Whole() {
			t.Errorf("a stack that goes on after %q: got true, want false", symbol)
		}
	}
	if s := (Sample{}); s.Whole() {
		t.Error("a stack without frames: got true, want false")
	}
}

func TestWhole_FilesWithoutSymbols(t *testing.T) {
	leaf, jitted := Frame{Symbol: "leaf", DSO: "/usr/bin/app"}, Frame{Symbol: "f", DSO: "/tmp/jitted-1-1.so"}
	app, libc := Frame{Addr: 0x1000, DSO: "/usr/bin/app"}, Frame{Addr: 0x2000, DSO: "/sid/usr/lib/x86_64-linux-gnu/libc.so.6"}
	main, anon := Frame{Symbol: "__libc_start_main@@GLIBC_2.34", DSO: libc.DSO}, Frame{DSO: "//anon"}
	for _, c := range []struct {
		name   string
		frames []Frame
		want   bool
	}{
		{"_start has no name", []Frame{leaf, jitted, main, app}, true},
		{"start_thread and clone3 have no names", []Frame{leaf, jitted, libc, libc}, true},
		{"one frame in libc", []Frame{leaf, jitted, libc}, false},
		{"two frames of the program", []Frame{leaf, jitted, app, app}, false},
		{"the sample is in libc", []Frame{libc, libc}, false},
		{"junk after __libc_start_main", []Frame{leaf, main, anon}, false},
	} {
		s := Sample{Frames: c.frames}
		if got := s.Whole(); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFrame_JittedAndAnonymous(t *testing.T) {
	for dso, want := range map[string][2]bool{
		"/tmp/jitted-12-3.so": {true, false}, "/x/jitbundle-12-3.so": {true, false}, "/tmp/jitted-dir/libc.so": {false, false},
		"//anon": {false, true}, "[anon:v8]": {false, true}, "[unknown]": {false, true}, "/memfd:doublemapper (deleted)": {false, true},
		"/dev/zero (deleted)": {false, true}, "/tmp/perf-12.map": {false, true}, "/usr/bin/node": {false, false}, "[kernel.kallsyms]": {false, false},
	} {
		f := Frame{DSO: dso}
		if got := [2]bool{f.Jitted(), f.Anonymous()}; got != want {
			t.Errorf("%s: jitted, anonymous: got %v, want %v", dso, got, want)
		}
	}
}
