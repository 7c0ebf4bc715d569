package view_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/tier"
)

// A builder makes profiles from stacks that are written as lists of names.
type builder struct {
	profile.Profile
	functions map[profile.Function]int
	frames    map[profile.Frame]int
	stacks    map[profile.Stack]int
}

func newBuilder() *builder {
	b := &builder{functions: map[profile.Function]int{}, frames: map[profile.Frame]int{}, stacks: map[profile.Stack]int{}}
	b.Events = []string{"cycles:u"}
	b.Threads = []profile.Thread{{PID: 100, TID: 100, Process: "node", Name: "node"}}
	return b
}

func add[T comparable](index map[T]int, list *[]T, v T) int {
	i, ok := index[v]
	if !ok {
		i = len(*list)
		index[v] = i
		*list = append(*list, v)
	}
	return i
}

// A call is a frame of a test's stack.
type call struct {
	profile.Function
	at      int // line
	inlined bool
}

// stack returns the index of a stack, outermost call first.
func (b *builder) stack(calls ...call) int {
	at := -1
	for _, c := range calls {
		function := add(b.functions, &b.Functions, c.Function)
		frame := add(b.frames, &b.Frames, profile.Frame{Function: function, Line: c.at, Inlined: c.inlined})
		at = add(b.stacks, &b.Stacks, profile.Stack{Caller: at, Frame: frame})
	}
	return at
}

// sample adds n samples.
func (b *builder) sample(n, thread, event int, calls ...call) {
	stack := b.stack(calls...)
	for range n {
		b.Samples = append(b.Samples, profile.Sample{Time: uint64(len(b.Samples)) * 1e6, Period: 1000, Stack: stack, Thread: thread, Event: event})
	}
}

func native(name string) call {
	return call{Function: profile.Function{Name: name, Symbol: name, Object: "/usr/bin/node", Kind: profile.Native}}
}

func jitted(name string, by tier.Tier, line, at int) call {
	return call{Function: profile.Function{Name: name, Symbol: name, Object: "jitted-100-1.so", Kind: profile.JIT, Tier: by, File: "/app/server.js", Line: line}, at: at}
}

func inlined(c call) call {
	c.inlined = true
	return c
}

// small is a server of Node.js: 100 samples of cycles in two threads, 20 of faults.
func small() *profile.Profile {
	b := newBuilder()
	b.Events = []string{"cycles:u", "page-faults"}
	b.Threads = []profile.Thread{
		{PID: 100, TID: 100, Process: "node", Name: "node"},
		{PID: 100, TID: 101, Process: "node", Name: "worker"},
	}
	b.Recording = profile.Recording{
		Path: "perf.data", Command: "perf record -g -F 4000 node --perf-prof server.js", Host: "build-7",
		CPU: "AMD EPYC 9654", Kernel: "6.12.30", Arch: "x86_64", Date: "Mon Nov 24 10:15:00 2026", Perf: "6.12", Frequency: 4000, Lost: 3,
		Warnings: []string{"3 samples were lost: the buffer of perf record was full."},
	}
	start, main := native("node::Start(int, char**)"), native("v8::internal::Execution::Call")
	handle, parse := jitted("handleRequest", tier.Optimized, 10, 14), jitted("parseBody", tier.Optimized, 30, 33)
	hash := jitted("hash", tier.Optimized, 40, 42)
	b.sample(30, 0, 0, start, main, handle, inlined(parse), inlined(hash))
	b.sample(20, 0, 0, start, main, handle, parse)
	b.sample(10, 0, 0, start, main, jitted("handleRequest", tier.Interpreter, 10, 12), native("v8::internal::Runtime_CompileOptimized"))
	b.sample(15, 0, 0, start, main, handle, native("write"), call{Function: profile.Function{Name: "ksys_write", Symbol: "ksys_write", Object: "[kernel.kallsyms]", Kind: profile.Kernel}})
	b.sample(5, 0, 0, start, call{Function: profile.Function{Object: "/usr/lib/libz.so"}})
	b.sample(20, 1, 0, native("worker_main"), jitted("compress", tier.Baseline, 60, 61), jitted("adapter", tier.Stub, 0, 0))
	b.sample(20, 0, 1, start, main, handle)
	return &b.Profile
}

// before is an earlier run of small's program: hash was slower, and compress did not exist.
func before() *profile.Profile {
	b := newBuilder()
	b.Recording = profile.Recording{Path: "old.data"}
	start, main := native("node::Start(int, char**)"), native("v8::internal::Execution::Call")
	handle := jitted("handleRequest", tier.Baseline, 10, 14)
	b.sample(60, 0, 0, start, main, handle, jitted("hash", tier.Baseline, 40, 42))
	b.sample(30, 0, 0, start, main, handle)
	b.sample(10, 0, 0, start, main, native("gone"))
	return &b.Profile
}

// serverSource is the source of small's functions.
func serverSource() []byte {
	var text []byte
	for n := 1; n <= 80; n++ {
		text = fmt.Appendf(text, "\tconst line%d = call(%d); // line %d\n", n, n, n)
	}
	return text
}

// large has about the given number of frames in the graph, in stacks as a real program has them.
func large(frames int) *profile.Profile {
	b := newBuilder()
	b.Threads = nil
	for t := range 16 {
		b.Threads = append(b.Threads, profile.Thread{PID: uint32(100 + t/8), TID: uint32(100 + t), Process: fmt.Sprint("process-", t/8), Name: fmt.Sprint("thread-", t)})
	}
	r := rand.New(rand.NewPCG(1, 2))
	var known []call
	for i := range 3000 {
		name := fmt.Sprintf("com.example.package%d.Class%d.method%d(java.lang.String, int)", i%17, i%211, i)
		c := jitted(name, tier.Tier(r.IntN(int(tier.Stub)+1)), i%900+1, i%900+3)
		switch r.IntN(5) {
		case 0:
			c = native(fmt.Sprintf("std::vector<std::string>::function_%d", i))
		case 1:
			c.inlined = true
		}
		known = append(known, c)
	}
	// Each new stack leaves one of the earlier stacks at some depth, most of them deep.
	var stacks [][]call
	for len(b.Stacks) < frames {
		stack := []call{native("main")}
		if len(stacks) > 0 && r.IntN(10) > 0 {
			from := stacks[r.IntN(len(stacks))]
			stack = append([]call{}, from[:1+r.IntN(len(from))]...)
		}
		for range 1 + r.IntN(12) {
			if len(stack) < 60 {
				stack = append(stack, known[int(float64(len(known))*r.Float64()*r.Float64())])
			}
		}
		stacks = append(stacks, stack)
		b.sample(1+r.IntN(20), r.IntN(len(b.Threads)), 0, stack...)
	}
	return &b.Profile
}
