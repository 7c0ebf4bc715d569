package inject_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/calls"
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
	w.Exit(tracePID, tracePID, 1200)
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
func TestTrace(t *testing.T) {
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
			w.opts.SetTraces(s)
			sum, err := w.run()
			if err != nil || !sum.Complete() || len(sum.Traces) != 1 {
				t.Fatalf("%+v, %v", sum, err)
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

var _ = os.Stat
var _ = verify.File
var _ inject.Options
