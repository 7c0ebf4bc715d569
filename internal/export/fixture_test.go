package export

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/tier"
)

// Indices of the fixture's functions.
const (
	fnMain = iota
	fnRun
	fnRunBaseline
	fnAdd
	fnRead
	fnNoName
	fnOther
)

// recorded has a node with an inlined JIT call (run calls add, which is inlined, as is the add in
// it), a kernel frame, and code without a symbol, and a second process at the same addresses. All is
// small enough to be checked by eye:
//
//	node 9/9   cpu-clock:u   main; run; add_[i]; add_[i]          2 samples, 2 ms
//	node 9/9   cpu-clock:u   main; run (baseline)                 1 sample, 1 ms
//	node 9/9   cpu-clock:u   [unknown]                            1 sample, 1 ms
//	worker 9/11  cpu-clock:u main; read_[k]                       1 sample, 1 ms
//	worker 9/11  cpu-clock:u main; [libc.so.6]                    1 sample, 1 ms
//	helper 20/20 cpu-clock:u other                                1 sample, 1 ms
func recorded() *profile.Profile {
	const ms = 1e6
	return &profile.Profile{
		Recording: profile.Recording{
			Path: "/tmp/perf.jit.data", Command: "/usr/bin/perf record -F 1000 -g -- node x.js", Host: "box",
			CPU: "A CPU", Kernel: "6.1.0", Arch: "x86_64", Date: "Thu Nov 26 12:00:00 2026", Perf: "6.12",
			Frequency: 1000, Lost: 3, Warnings: []string{"3 samples are lost"},
		},
		Events: []string{"cpu-clock:u"},
		Threads: []profile.Thread{
			{PID: 20, TID: 20, Process: "helper", Name: "helper"},
			{PID: 9, TID: 11, Process: "node", Name: "node worker"},
			{PID: 9, TID: 9, Process: "node", Name: "node"},
		},
		Functions: []profile.Function{
			fnMain:        {Name: "main", Symbol: "main", Object: "/usr/bin/node", Kind: profile.Native},
			fnRun:         {Name: "run", Symbol: "*run x.js:3", Object: "/tmp/jitted-9-1.so", Kind: profile.JIT, Tier: tier.Optimized, File: "/src/x.js", Line: 3},
			fnRunBaseline: {Name: "run", Symbol: "^run x.js:3", Object: "/tmp/jitted-9-2.so", Kind: profile.JIT, Tier: tier.Baseline, File: "/src/x.js", Line: 3},
			fnAdd:         {Name: "add", Symbol: "add", Object: "/tmp/jitted-9-1.so", Kind: profile.JIT, Tier: tier.Optimized, File: "/src/lib.js", Line: 1},
			fnRead:        {Name: "ksys_read", Symbol: "ksys_read", Object: "[kernel.kallsyms]", Kind: profile.Kernel},
			fnNoName:      {Name: "[unknown]", Symbol: "[unknown]", Object: "/lib/libc.so.6", Kind: profile.Native},
			fnOther:       {Name: "other", Symbol: "_Zother", Object: "/usr/bin/helper", Kind: profile.Native},
		},
		Frames: []profile.Frame{
			0: {Function: fnMain, Addr: 0x400100},
			1: {Function: fnRun, Line: 5, Addr: 0x7f0040},
			2: {Function: fnAdd, Line: 2, Addr: 0x7f0040, Inlined: true},
			3: {Function: fnRunBaseline, Line: 4, Addr: 0x7f1080},
			4: {Function: fnRead, Addr: 0xffffffff81000010},
			5: {Function: fnNoName, Addr: 0x7e0000},
			6: {Function: fnOther, Addr: 0x400100},
		},
		Stacks: []profile.Stack{
			0: {Caller: -1, Frame: 0},
			1: {Caller: 0, Frame: 1},
			2: {Caller: 1, Frame: 2},
			3: {Caller: 2, Frame: 2},
			4: {Caller: 0, Frame: 3},
			5: {Caller: 0, Frame: 4},
			6: {Caller: 0, Frame: 5},
			7: {Caller: -1, Frame: 6},
		},
		Samples: []profile.Sample{
			{Time: 1000 * ms, Period: ms, Stack: 7, Thread: 0},
			{Time: 1001 * ms, Period: ms, Stack: 3, Thread: 2},
			{Time: 1003 * ms, Period: ms, Stack: 4, Thread: 2}, // behind the next in time
			{Time: 1002 * ms, Period: ms, Stack: 3, Thread: 2},
			{Time: 1003*ms + 500, Period: ms, Stack: 5, Thread: 1},
			{Time: 1004 * ms, Period: ms, Stack: 6, Thread: 1},
			{Time: 1005 * ms, Period: ms, Stack: -1, Thread: 2},
		},
	}
}

// hostileNames are names that somebody might give a function, a file or a thread.
var hostileNames = []string{
	`quote " and \ and ' and </script>`,
	"newline\nsecond;third 7",
	"semicolon;a;b",
	"ends with a number 42",
	"two numbers 4 2",
	"bytes \xff\xfe and NUL \x00 and \x1b[31m",
	"separators \u2028 \u2029",
	strings.Repeat("x", 1<<16),
	strings.Repeat(`"\`, 1<<12),
	" ",
	"",
	"日本語 ✓ 😀",
	"_[k]",
	"%s%n",
	"[unknown]",
	"__proto__",
}

// hostile has a function, a file, an object, a process and an event for each of the names.
func hostile() *profile.Profile {
	p := &profile.Profile{}
	for i, name := range hostileNames {
		p.Events = append(p.Events, name)
		p.Threads = append(p.Threads, profile.Thread{PID: uint32(i), TID: uint32(i), Process: name, Name: name})
		p.Functions = append(p.Functions, profile.Function{Name: name, Symbol: name, Object: name, Kind: profile.Kind(i % 4), Tier: tier.Tier(i % 6), File: name, Line: i})
		p.Frames = append(p.Frames, profile.Frame{Function: i, Line: i, Addr: ^uint64(0) - uint64(i), Inlined: i%3 == 0})
		p.Stacks = append(p.Stacks, profile.Stack{Caller: i - 1, Frame: i})
		p.Samples = append(p.Samples, profile.Sample{Time: uint64(i), Period: uint64(i), Stack: i, Thread: i, Event: 1})
	}
	p.Recording = profile.Recording{Path: hostileNames[5], Command: hostileNames[1], Host: hostileNames[0], Date: hostileNames[1], Warnings: hostileNames}
	return p
}

// write returns a profile in a format, unpacked.
func write(t *testing.T, format string, p *profile.Profile) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, p, Options{Program: "jitinject 1.2.3"}); err != nil {
		t.Fatalf("Write(%s): %v", format, err)
	}
	if !bytes.HasPrefix(out.Bytes(), []byte{0x1f, 0x8b}) {
		return out.Bytes()
	}
	unzip, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unzip)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
