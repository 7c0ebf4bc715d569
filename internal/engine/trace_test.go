package engine_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/perfdata"
)

// A script is a trace that was written down: for each thread, its steps.
type script struct {
	pid      uint32
	name     string
	cpu      bool
	args     bool
	threads  map[uint32][]calls.Step
	problems []calls.Problem
}

func (s *script) Path() string              { return "calls.log" }
func (s *script) Name() string              { return s.name }
func (s *script) PID() uint32               { return s.pid }
func (s *script) HasCPU() bool              { return s.cpu }
func (s *script) HasArgs() bool             { return s.args }
func (s *script) HasNotes() bool            { return true }
func (s *script) Problems() []calls.Problem { return s.problems }
func (s *script) Close() error              { return nil }

func (s *script) Threads(context.Context) (list []calls.Thread, err error) {
	for tid, steps := range s.threads {
		list = append(list, &scriptThread{tid, steps})
	}
	return list, nil
}

type scriptThread struct {
	tid   uint32
	steps []calls.Step
}

func (t *scriptThread) TID() uint32 { return t.tid }

func (t *scriptThread) Next(s *calls.Step) error {
	if len(t.steps) == 0 {
		return io.EOF
	}
	*s = t.steps[0]
	t.steps = t.steps[1:]
	return nil
}

// steps reads "10+1 20+2 30-2 40-1": time, what happens, function. + enters, - exits, ! is
// a note. Times count from 1000, functions are at 0x700000 and from there on every 64 bytes.
func steps(text string) (list []calls.Step) {
	kinds := map[byte]calls.Kind{'+': calls.Enter, '-': calls.Exit, '!': calls.Note}
	for _, word := range strings.Fields(text) {
		var st calls.Step
		var c byte
		if _, err := fmt.Sscanf(word, "%d%c%d", &st.Time, &c, &st.Function); err != nil {
			panic(word)
		}
		st.Kind, st.Time, st.Function = kinds[c], st.Time+1000, st.Function*64+0x700000
		if st.Kind == calls.Note {
			st.Function, st.Type, st.Payload = 0, 7, []byte("a note\x00")
		}
		list = append(list, st)
	}
	return list
}

const tracePID = 4711

// tracedWorld is a process with three jitted functions, samples between whose calls, and
// a trace of two threads.
func tracedWorld(t *testing.T) (*world, *script) {
	w := newWorld(t)
	s := &script{pid: tracePID, name: "mono", threads: map[uint32][]calls.Step{
		tracePID:     steps("10+1 20+2 30+3 40-3 50-2 60+2 65-2 100-1"),
		tracePID + 1: steps("15+2 25+2 45-2 55-2"),
	}}
	w.dump("jit-4711.dump", x86(tracePID),
		load(1001, tracePID, 1, 0x700040, "One", code(64, 1)), load(1002, tracePID, 2, 0x700080, "Two", code(64, 2)), load(1003, tracePID, 3, 0x7000c0, "Three", code(64, 3)))
	return w, s
}

// fill adds the records of the recording.
func (w *world) fillTraced() {
	w.mark(tracePID, 1000, "jit-4711.dump")
	w.Sample(tracePID, 1012, 0x700044)
	w.Sample(tracePID, 1042, 0x700084)
	w.Round()
	w.Sample(tracePID, 1035, 0x7000c4) // of another CPU
	w.Sample(tracePID, 1070, 0x700044)
	w.Round()
	w.Sample(tracePID, 1090, 0x700044)
	if !w.NoTrailers { // its time would be missing, and newer perfs would have it come first
		w.Exit(tracePID, tracePID, 1200)
	}
}

// wantCalls is what perf script must say of the calls: thread, time, period, stack.
const wantCalls = `4711 1040 mono 10 Three<Two<One
4712 1045 mono 20 Two<Two
4711 1050 mono 20 Two<One
4712 1055 mono 20 Two
4711 1065 mono 5 Two<One
4711 1100 mono 55 One
`

// scripted asks perf for the samples of an event.
func scripted(t *testing.T, perf, dir, path, event string) string {
	t.Helper()
	out, errs := testrec.RunBoth(t, dir, perf, "script", "--ns", "-F", "tid,time,event,period,ip,sym", "-i", path)
	for _, bad := range []string{"order", "nknown", "orrupt"} {
		if strings.Contains(errs, bad) {
			t.Errorf("%s complains: %s", perf, errs)
		}
	}
	var b strings.Builder
	var head string
	var stack []string
	flush := func() {
		if head != "" {
			fmt.Fprintf(&b, "%s %s\n", head, strings.Join(stack, "<"))
		}
		head, stack = "", nil
	}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		switch {
		case len(f) >= 4 && strings.Contains(f[1], "."): // thread, time, period, event
			flush()
			if strings.TrimSuffix(f[3], ":") == event {
				seconds, nanos, _ := strings.Cut(strings.TrimSuffix(f[1], ":"), ".")
				time, _ := strconv.ParseUint(seconds+nanos, 10, 64)
				head = fmt.Sprintf("%s %d %s %s", f[0], time, event, f[2])
			}
		case len(f) >= 2:
			stack = append(stack, strings.Join(f[1:], " "))
		}
	}
	flush()
	return b.String()
}

// Calls appear with exact times, whatever the recording's samples look like.
func TestTrace_ExactTimes(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*world, *script)
	}{
		{"no ids", func(*world, *script) {}},
		{"identifier", func(w *world, _ *script) { w.SampleType |= testrec.Identifier }},
		{"id", func(w *world, _ *script) { w.SampleType |= testrec.ID | testrec.StreamID }},
		{"callchains", func(w *world, _ *script) { w.SampleType |= testrec.Callchain | testrec.CPU }},
		{"big endian", func(w *world, _ *script) { w.Order = binary.BigEndian }},
		{"no trailers", func(w *world, _ *script) { w.NoTrailers = true; w.SampleType |= testrec.Identifier }},
		{"long attr", func(w *world, _ *script) { w.AttrSize = 136 }},
		{"short attr", func(w *world, _ *script) { w.AttrSize = 96 }},
		{"cpus", func(_ *world, s *script) { s.cpu = true }},
		{"arguments", func(_ *world, s *script) { s.args = true; s.threads[tracePID][0].Args = []uint64{1, 2} }},
		{"compressed", func(w *world, _ *script) { w.opts.Compress = 1 }},
		{"bundled", func(w *world, _ *script) { w.opts.Bundle = true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, s := tracedWorld(t)
			test.set(w, s)
			w.fillTraced()
			engine.SetTraces(t, s)
			sum, err := w.run()
			if err != nil || !sum.Complete() || len(sum.Traces) != 1 {
				t.Fatalf("got %s, %v; want no error, nothing missing, 1 trace", asJSON(sum), err)
			}
			if c := sum.Traces[0]; c.Calls != 6 || c.Threads != 2 || c.Inferred != 0 || c.Traced != 130 || c.Early != 0 || c.Late > 1 {
				t.Errorf("summary %+v", c)
			}
			eachRecord(t, w.opts.Output, func(*perfdata.Layouts, perfdata.Record) {})
			for version, perf := range testrec.Perfs(t) {
				if testrec.Command(t, w.dir, perf, "script", "-i", w.opts.Input).Run() != nil {
					continue // it is older than that
				}
				if got := scripted(t, perf, w.dir, w.opts.Output, "mono"); got != wantCalls {
					t.Errorf("perf %s:\n%swant\n%s", version, got, wantCalls)
				}
				report := testrec.Run(t, w.dir, perf, "report", "--stdio", "--no-children", "-g", "none", "-F", "period,sample,sym", "-i", w.opts.Output)
				for _, line := range []string{`65 +4 +\[\.\] Two`, `55 +1 +\[\.\] One`, `10 +1 +\[\.\] Three`, `of event 'cpu-clock`} {
					if !regexp.MustCompile(line).MatchString(report) {
						t.Errorf("perf %s: no %q in\n%s", version, line, report)
					}
				}
			}
		})
	}
}

// Beside a trace, everything else in a recording stays what it was, in all forms that
// recordings have.
func TestTrace_EveryForm(t *testing.T) {
	for _, form := range []struct{ name, input, output string }{
		{"node-zstd", "perf.data", "out.data"},
		{"node-threads", "perf.data.dir", "out.dir/"},
		{"node-pipe", "perf.pipe.data", "out.data"},
		{"node-pipe", "perf.pipe.data", "-"},
		{"node-dwarf", "perf.data", "-"},
	} {
		t.Run(form.name+" to "+form.output, func(t *testing.T) {
			dir := testrec.Unpack(t, form.name)
			input, plain := filepath.Join(dir, form.input), filepath.Join(dir, "plain.data")
			opts := config.Options{Input: input, Output: plain}
			if _, err := engine.Run(t.Context(), opts); err != nil {
				t.Fatal(err)
			}
			perf := testrec.Tool(t, "perf")
			pid, first, last := spanOf(t, dir, perf, plain)
			trace := &script{pid: pid, name: "xray", cpu: true, threads: map[uint32][]calls.Step{}}
			const threads, each = 3, 500
			for i := range uint32(threads) {
				for n := range uint64(each) {
					at := first + (last-first)*n/each
					trace.threads[pid+i] = append(trace.threads[pid+i],
						calls.Step{Kind: calls.Enter, Time: at, Function: 0x1000, CPU: i}, calls.Step{Kind: calls.Exit, Time: at + uint64(i)*1000, Function: 0x1000, CPU: i})
				}
			}
			engine.SetTraces(t, trace)
			traced := filepath.Join(dir, strings.TrimSuffix(form.output, "/"))
			opts.Output = traced
			if strings.HasSuffix(form.output, "/") {
				opts.Output += "/"
			}
			if form.output == "-" {
				traced = filepath.Join(dir, "piped.data")
				f, err := os.Create(traced)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				opts.Output, opts.Stdout = "-", f
			}
			sum, err := engine.Run(t.Context(), opts)
			if err != nil || !sum.Complete() || sum.Traces[0].Calls != threads*each {
				t.Fatalf("got %s, %v; want no error, nothing missing, Traces[0].Calls = %v", asJSON(sum), err, threads*each)
			}
			for version, perf := range testrec.Perfs(t) {
				before, _ := shown(t, dir, perf, plain)
				after, calls := shown(t, dir, perf, traced)
				if before != after {
					t.Errorf("perf %s shows other samples than without the trace: %s", version, firstLine(before, after))
				}
				if calls != threads*each {
					t.Errorf("perf %s shows %d calls", version, calls)
				}
			}
			if before, after := complaints(t, plain), complaints(t, traced); !maps.Equal(before, after) {
				t.Errorf("verify complains of %v with the trace, and of %v without", after, before)
			}
		})
	}
}

// complaints counts what verify says of a recording, by rule.
func complaints(t *testing.T, path string) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	_, err := checks.Verifier().File(t.Context(), path, verify.Options{All: true, Emit: func(c verify.Diagnostic) {
		counts[c.Rule]++
		if counts[c.Rule] == 1 {
			t.Logf("%s: %s: %s", filepath.Base(path), c.Rule, c.Text)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// shown returns what perf says of the samples of a recording but those of a trace, and
// how many those are.
func shown(t *testing.T, dir, perf, path string) (others string, calls int) {
	t.Helper()
	out, errs := testrec.RunBoth(t, dir, perf, "script", "--no-inline", "-G", "--ns", "-F", "pid,tid,time,event,ip,sym,dso", "-i", path)
	for _, bad := range []string{"out of order", "out-of-order", "nhandled", "orrupt"} {
		if strings.Contains(errs, bad) {
			t.Errorf("%s complains: %s", perf, errs)
		}
	}
	var b strings.Builder
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); strings.HasPrefix(f[2], "xray") {
			calls++
		} else {
			b.WriteString(strings.Join(f, " ") + "\n") // columns are as wide as the longest name
		}
	}
	return b.String(), calls
}

// spanOf returns a process of a recording, and the times of its first and last samples.
func spanOf(t *testing.T, dir, perf, path string) (pid uint32, first, last uint64) {
	t.Helper()
	out := testrec.Run(t, dir, perf, "script", "-G", "--ns", "-F", "pid,time", "-i", path)
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		n, _ := strconv.ParseUint(f[0], 10, 32)
		time, _ := strconv.ParseUint(strings.NewReplacer(".", "", ":", "").Replace(f[1]), 10, 64)
		if pid, last = uint32(n), time; first == 0 {
			first = time
		}
	}
	return pid, first, last
}

// firstLine returns the first lines in which two texts differ.
func firstLine(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("line %d: %q and %q", i+1, as[i], bs[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(as), len(bs))
}

// Notes are samples of a second event, calls that took no time are samples like others,
// and callchains are as long as the kernel's.
func TestTrace_NotesAndZeroTimes(t *testing.T) {
	w, s := tracedWorld(t)
	deep := ""
	for i := range 200 {
		deep += fmt.Sprintf("%d+3 ", 30+i/10)
	}
	s.threads = map[uint32][]calls.Step{tracePID: steps("10+1 20!0 20+2 20-2 " + deep + "60-1")}
	w.fillTraced()
	engine.SetTraces(t, s)
	sum, err := w.run()
	if err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	if c := sum.Traces[0]; c.Calls != 202 || c.Notes != 1 || c.Inferred != 200 || c.Cut != 200-126 || c.Traced != 50 {
		t.Errorf("summary %+v", c)
	}
	for version, perf := range testrec.Perfs(t) {
		out := testrec.Run(t, w.dir, perf, "script", "-F", "event,time,bpf-output", "--ns", "-i", w.opts.Output)
		if !strings.Contains(out, "a note") {
			t.Errorf("perf %s does not show the note:\n%s", version, out)
		}
		if got := scripted(t, perf, w.dir, w.opts.Output, "mono"); !strings.Contains(got, "4711 1020 mono 0 Two<One\n") || strings.Count(got, "\n") != 202 {
			t.Errorf("perf %s shows other calls, or not the one that took no time:\n%s", version, got)
		}
		report := testrec.Run(t, w.dir, perf, "report", "--stdio", "--no-children", "-g", "none", "-F", "period,sample,sym", "-i", w.opts.Output)
		if !regexp.MustCompile(`\n +0 +1 +\[\.\] Two`).MatchString(report) {
			t.Errorf("perf %s does not count the call that took no time:\n%s", version, report)
		}
	}
}

// perf report adds up what the trace says, exactly: exclusive times, and inclusive ones of
// the callers.
func TestTrace_PerfReportSums(t *testing.T) {
	w, s := tracedWorld(t)
	s.threads = map[uint32][]calls.Step{}
	self, total := map[string]uint64{}, map[string]uint64{}
	names := []string{"", "One", "Two", "Three"}
	for tid := range uint64(3) {
		text, at := "", uint64(10)
		for i := range uint64(300) { // One calls Two, which calls Three
			a, b, c := 1+(i+tid)%3, i%5, (i*7+tid)%11
			text += fmt.Sprintf("%d+1 %d+2 %d+3 %d-3 %d-2 %d-1 ", at, at+a, at+a+b, at+a+b+c, at+a+b+c+b, at+a+b+c+b+a)
			for i, d := range []uint64{2*a + 2*b + c, 2*b + c, c} {
				total[names[i+1]] += d
			}
			self["One"] += 2 * a
			self["Two"] += 2 * b
			self["Three"] += c
			at += a + b + c + b + a + 3
		}
		s.threads[tracePID+uint32(tid)] = steps(text)
	}
	w.fillTraced()
	engine.SetTraces(t, s)
	sum, err := w.run()
	if err != nil || !sum.Complete() || sum.Traces[0].Calls != 2700 || sum.Traces[0].Traced != total["One"] {
		t.Fatalf("got %s, %v; want no error, nothing missing, Traces[0].Calls = 2700, Traces[0].Traced = %v", asJSON(sum), err, total["One"])
	}
	for version, perf := range testrec.Perfs(t) {
		flat := testrec.Run(t, w.dir, perf, "report", "--stdio", "--no-children", "-g", "none", "-F", "period,sample,sym", "-i", w.opts.Output)
		_, flat, _ = strings.Cut(flat, "of event 'mono'")
		for name, ns := range self {
			if !regexp.MustCompile(fmt.Sprintf(`\n +%d +900 +\[\.\] %s`, ns, name)).MatchString(flat) {
				t.Errorf("perf %s: %s should have %d ns of its own:\n%s", version, name, ns, flat)
			}
		}
		tree := testrec.Run(t, w.dir, perf, "report", "--stdio", "--children", "-g", "none", "-F", "overhead_children,period,sym", "-i", w.opts.Output)
		_, tree, _ = strings.Cut(tree, "of event 'mono'")
		for name, ns := range total {
			share := fmt.Sprintf("%.2f", 100*float64(ns)/float64(total["One"]))
			if !regexp.MustCompile(`\n +` + regexp.QuoteMeta(share) + `% +\d+ +\[\.\] ` + name).MatchString(tree) {
				t.Errorf("perf %s: %s and what it calls should have %s%%:\n%s", version, name, share, tree)
			}
		}
		if events := testrec.Run(t, w.dir, perf, "evlist", "-i", w.opts.Output); !strings.Contains(events, "cpu-clock\nmono\n") {
			t.Errorf("perf %s evlist: %s", version, events)
		}
	}
}
