package mono_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
	"github.com/jitinject/jitinject/internal/runtime/mono"
)

// A callLog is a log in calls mode that is made up.
type callLog struct {
	bytes.Buffer
	t *testing.T
	w *monogen.Writer
	n int // buffers
}

func newCallLog(t *testing.T) *callLog {
	l := &callLog{t: t}
	var err error
	if l.w, err = monogen.NewWriter(&l.Buffer, &monolog.Header{Major: 3, Version: 17, PtrSize: 8, StartupTime: 1e12, PID: 7, Arch: "x86-64"}); err != nil {
		t.Fatal(err)
	}
	return l
}

// thread begins a buffer and writes events: "10+1 20-1" enters and leaves method 1, x leaves it
// by an exception, L and U load and unload the thread, N names it n. Times count from 1e12.
func (l *callLog) thread(self uint64, text string) {
	l.t.Helper()
	kinds := map[byte]monolog.Kind{'+': monolog.KindEnter, '-': monolog.KindLeave, 'x': monolog.KindExcLeave, 'L': monolog.KindThread, 'U': monolog.KindThread, 'N': monolog.KindThread, 'J': monolog.KindJIT}
	for i, word := range strings.Fields(text) {
		var e monolog.Event
		var c byte
		var n uint64
		if _, err := fmt.Sscanf(word, "%d%c%d", &e.Time, &c, &n); err != nil {
			l.t.Fatalf("%q: %v", word, err)
		}
		e.Time += 1e12
		if e.Kind = kinds[c]; e.Kind == monolog.KindThread {
			e.Pointer = self
			e.Load = map[byte]monolog.Load{'L': monolog.LoadEnd, 'U': monolog.UnloadEnd, 'N': monolog.LoadName}[c]
			if c == 'N' {
				e.Name = []byte(fmt.Sprint("thread ", n))
			}
		} else {
			e.Method = 0x1000 + 64*n
		}
		if c == 'J' { // those from 5 on have an address
			e.Name = []byte(fmt.Sprint("App:M", n, " ()"))
			if n >= 5 {
				e.Code, e.Size = 0x40000000+64*n, 32
			}
		}
		if i == 0 {
			if err := l.w.Buffer(monolog.BufferHeader{Time: e.Time, Thread: self, MethodBase: 0x1000}); err != nil {
				l.t.Fatal(err)
			}
			l.n++
		}
		if err := l.w.Event(&e); err != nil {
			l.t.Fatal(err)
		}
	}
}

// log scans what was written.
func (l *callLog) log() *mono.Log {
	l.t.Helper()
	if err := l.w.Flush(); err != nil {
		l.t.Fatal(err)
	}
	return l.scan()
}

func (l *callLog) scan() *mono.Log {
	m, err := mono.ReadLog(bytes.NewReader(l.Bytes()))
	if err == nil {
		err = m.Scan(l.t.Context())
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return m
}

// told writes down what the calls of a log are: time, thread, stack of method names,
// exclusive time.
func (l *callLog) told(m *mono.Log) (string, *mono.LogTrace, calls.Counts) {
	l.t.Helper()
	tids := make(map[*mono.LogThread]uint32)
	for i, t := range m.Threads() {
		tids[t] = uint32(i + 1)
	}
	trace := m.Trace(bytes.NewReader(l.Bytes()), "app.mlpd", 7, tids)
	threads, err := trace.Threads(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	names := make(map[uint64]string)
	for i := range m.NumFunctions() {
		addr, _ := m.FunctionPlace(i)
		names[addr] = strings.TrimSuffix(strings.TrimPrefix(string(m.FunctionName(i)), "App:"), " ()")
	}
	merger := calls.NewMerger(threads)
	var out []string
	for {
		e, err := merger.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			l.t.Fatal(err)
		}
		var stack []string
		for _, addr := range e.Stack {
			stack = append(stack, names[addr])
		}
		word := fmt.Sprintf("%d:%d:%s=%d", e.Time-1e12, e.TID, strings.Join(stack, "."), e.Exclusive)
		if e.Inferred {
			word += "~"
		}
		out = append(out, word)
	}
	return strings.Join(out, " "), trace, merger.Counts()
}

const jitEvents = "1J1 1J2 1J3 1J5 1J6"

func TestMonoTrace_Calls(t *testing.T) {
	l := newCallLog(t)
	l.thread(0x10, "0L0 10+1 20+5 30-5")
	l.thread(0x20, "5L0 6N9 15+2 16+3 17x3 25x2")
	l.thread(0x99, jitEvents) // by the profiler's own thread, later
	l.thread(0x10, "40+5 45-5 50-1 60U0")
	l.thread(0x10, "62+5 63-5")      // its last words
	l.thread(0x10, "70L0 71+6 72-6") // another thread in the same place
	m := l.log()
	got, trace, c := l.told(m)
	want := "17:2:M2.M3=1 25:2:M2=9 30:1:M1.M5=10 45:1:M1.M5=5 50:1:M1=25 63:1:M5=1 72:3:M6=1"
	if got != want || len(trace.Problems()) > 0 || c.Inferred != 0 || c.Threads != 3 {
		t.Errorf("got  %s\nwant %s\n%v %+v", got, want, trace.Problems(), c)
	}
	threads := m.Threads()
	if len(threads) != 3 || threads[1].Name != "thread 9" || threads[1].NamedAt != 1e12+6 || threads[0].Last != 1e12+63 || threads[2].First != 1e12+70 {
		t.Errorf("threads %+v %+v %+v", *threads[0], *threads[1], *threads[2])
	}
	if m.Addressless != 3 || m.Made != 3 {
		t.Errorf("%d methods without an address, %d got a place", m.Addressless, m.Made)
	}
}

// Without calls, nothing is made up.
func TestMonoTrace_WithoutCalls(t *testing.T) {
	l := newCallLog(t)
	l.thread(0x99, jitEvents)
	if m := l.log(); m.HasCalls() || m.Made != 0 || m.NumFunctions() != 2 {
		t.Errorf("got calls: %v, %d made functions, %d functions; want no calls, 0, 2", m.HasCalls(), m.Made, m.NumFunctions())
	}
}

// Damage makes a gap in its thread; other threads know nothing of it. Methods that
// nobody knows are left out, and it is said.
func TestMonoTrace_DamagedLog(t *testing.T) {
	l := newCallLog(t)
	l.thread(0x99, jitEvents)
	l.thread(0x10, "10+1 20+5 30-5")
	l.thread(0x20, "15+2 25-2")
	l.w.Flush()
	at := l.Len()
	l.thread(0x10, "40+5 45-5 46+9 47-9")
	l.thread(0x10, "50+6 55-6 60-1")
	l.w.Flush()
	b := l.Bytes()
	b[at+48+4] = 0x7f // no such event, behind the first
	got, trace, c := l.told(l.scan())
	want := "25:2:M2=10 30:1:M1.M5=10 40:1:M1.M5=0~ 40:1:M1=20~ 55:1:M6=5"
	if got != want || c.Gaps != 1 || c.Unmatched != 1 {
		t.Errorf("got  %s\nwant %s\n%+v", got, want, c)
	}
	if p := trace.Problems(); len(p) != 0 { // the scan has said it
		t.Errorf("problems %v", p)
	}

	l = newCallLog(t)
	l.thread(0x99, jitEvents)
	l.thread(0x10, "10+1 20+9 30-9 40-1")
	got, trace, _ = l.told(l.log())
	if p := trace.Problems(); got != "40:1:M1=30" && got != "40:2:M1=30" || len(p) != 1 || !strings.Contains(p[0].Text, "it has calls of 1 methods that it does not describe") {
		t.Errorf("got %s, %v", got, p)
	}
}

// A log that is cut anywhere gives what is in front of the cut, and no end that is not
// there.
func TestMonoTrace_CutAnywhere(t *testing.T) {
	l := newCallLog(t)
	l.thread(0x99, jitEvents)
	l.thread(0x10, "10+1 20+5 30-5 40+5 45-5 50-1")
	l.thread(0x20, "15+2 16+3 17x3 25x2")
	l.log()
	whole := bytes.Clone(l.Bytes())
	for n := range whole {
		l.Reset()
		l.Write(whole[:n])
		m, err := mono.ReadLog(bytes.NewReader(whole[:n]))
		if err != nil {
			continue
		}
		if err := m.Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		told, _, c := l.told(m)
		if strings.Count(told, "=") != int(c.Calls) || c.Backward != 0 {
			t.Fatalf("cut at %d: %s, %+v", n, told, c)
		}
	}
}

// A time that cannot be is damage, and not the time of all that follows.
func TestMonoTrace_ImpossibleTime(t *testing.T) {
	l := newCallLog(t)
	l.thread(0x99, jitEvents)
	l.thread(0x10, "10+1 20+5 5000000000-5 5000000001-1")
	l.thread(0x10, "50+6 55-6")
	got, trace, c := l.told(l.log())
	if want := "20:1:M1.M5=0~ 20:1:M1=10~ 55:1:M6=5"; got != want || c.Backward != 0 || c.Gaps != 1 {
		t.Errorf("got  %s\nwant %s\n%+v", got, want, c)
	}
	if p := trace.Problems(); len(p) != 1 || !strings.Contains(p[0].Text, "an impossible time, 4999999990 ns") || p[0].Advice == "" {
		t.Errorf("problems %v", p)
	}
}
