package xray

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/format/xrayfdr/xraygen"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/xraymap"
)

// openXRay reads a trace, which stays readable during the test.
func openXRay(t *testing.T, path string) *Log {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	x, err := ReadLog(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// tracedProgram returns the functions of a program, and their names without parameters.
func tracedProgram(t *testing.T, path string) (*xraymap.Map, []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := elffile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := xraymap.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	symbols := m.Names(f)
	var names []string
	for _, y := range symbols {
		name, _, _ := strings.Cut(y.Name, "(")
		names = append(names, name)
	}
	return m, names
}

// eventsOf goes through a thread.
func eventsOf(t *testing.T, thread calls.Thread, each func(*calls.Event)) calls.Counts {
	t.Helper()
	s := calls.NewStack(thread)
	for {
		var e calls.Event
		err := s.Next(&e)
		if err == io.EOF {
			return s.Counts()
		}
		if err != nil {
			t.Fatal(err)
		}
		each(&e)
	}
}

// What a program of known calls logged: every call is counted, as often and as long as
// llvm-xray says, and the time of all calls alone adds up to the time that was traced.
func TestXRayLog_RecordedPrograms(t *testing.T) {
	for _, name := range []string{"xray-tsc", "xray-emulated"} {
		dir := testrec.Unpack(t, name)
		x := openXRay(t, filepath.Join(dir, "xray-log.calls"))
		program, names := tracedProgram(t, filepath.Join(dir, "calls"))
		truth := knownCalls(t, filepath.Join(dir, "counts.txt"))
		if len(x.Processes) != 1 || x.Processes[0].PID != truth.pid || len(x.Processes[0].Threads) != 2 {
			t.Fatalf("%s: processes %+v", name, x.Processes)
		}
		trace := x.Processes[0].Trace(Place{PID: truth.pid, Function: program.Address})
		threads, err := trace.Threads(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		byAddress := make(map[uint64]string)
		for id := 1; id <= program.Len(); id++ {
			addr, _ := program.Address(uint32(id))
			byAddress[addr] = names[id]
		}
		type sum struct {
			calls                             int
			inclusive, exclusive, least, most uint64
		}
		sums := make(map[string]*sum)
		var notes []string
		for _, thread := range threads {
			if !slices.Contains(truth.threads, thread.TID()) {
				t.Errorf("%s: there is no thread %d", name, thread.TID())
			}
			inferred, traced, exclusive := 0, uint64(0), uint64(0)
			c := eventsOf(t, thread, func(e *calls.Event) {
				if e.Kind == calls.Note {
					notes = append(notes, string(e.Payload))
					return
				}
				fn := byAddress[e.Stack[len(e.Stack)-1]]
				s := sums[fn]
				if s == nil {
					s = &sum{least: math.MaxUint64}
					sums[fn] = s
				}
				s.calls++
				s.inclusive += e.Inclusive
				s.exclusive += e.Exclusive
				s.least, s.most = min(s.least, e.Inclusive), max(s.most, e.Inclusive)
				exclusive += e.Exclusive
				if len(e.Stack) == 1 {
					traced += e.Inclusive
				}
				if e.Inferred {
					inferred++
					if fn != "thrower" && fn != "carrier" {
						t.Errorf("%s: the end of %s is inferred", name, fn)
					}
				}
				switch fn {
				case "argued":
					if len(e.Args) != 1 || e.Args[0]>>8 != 0x10 {
						t.Errorf("%s: arguments %#x", name, e.Args)
					}
				default:
					if len(e.Args) != 0 {
						t.Errorf("%s: %s has arguments %#x", name, fn, e.Args)
					}
				}
			})
			if exclusive != traced || c.Traced != traced {
				t.Errorf("%s: thread %d: %d ns were traced, its functions ran for %d, counted as %d", name, thread.TID(), traced, exclusive, c.Traced)
			}
			if c.Unmatched != 0 || c.Gaps != 0 || c.Backward != 0 || inferred != 2*truth.thrown/len(threads) {
				t.Errorf("%s: thread %d: %+v, %d exceptions", name, thread.TID(), c, truth.thrown/len(threads))
			}
		}
		for fn, n := range truth.calls {
			if s := sums[fn]; s == nil || s.calls != n {
				t.Errorf("%s: %s was called %d times, found %+v", name, fn, n, s)
			}
		}
		if len(sums) != len(truth.calls) {
			t.Errorf("%s: functions %v, of %d", name, sums, len(truth.calls))
		}
		rounds := truth.calls["round_of"]
		if len(notes) != rounds || notes[0] != "round 0" || notes[len(notes)-1] != fmt.Sprintf("round %d", rounds/2-1) {
			t.Errorf("%s: %d notes, the first %q, the last %q", name, len(notes), notes[0], notes[len(notes)-1])
		}
		if p := trace.Problems(); len(p) != 0 {
			t.Errorf("%s: got %+v; want no problems", name, p)
		}
		if x.HasCPU() != (name == "xray-tsc") || x.Clock.Emulated == x.HasCPU() {
			t.Errorf("%s: CPUs %v, clock %+v", name, x.HasCPU(), x.Clock)
		}
		// The program read both clocks itself, one after the other.
		if off := int64(x.Clock.Time(truth.count) - truth.time); !x.Clock.Emulated && (off < -x.Clock.Error || off > x.Clock.Error || x.Clock.Error > 50_000) {
			t.Errorf("%s: the clock is off by %d ns, it says by %d at most", name, off, x.Clock.Error)
		}
		if name == "xray-tsc" {
			continue // llvm-xray miscounts where functions were left by exceptions
		}
		for _, row := range account(t, filepath.Join(dir, "account.csv")) {
			s := sums[row.name]
			if s == nil || s.calls != row.count || !near(s.inclusive, row.sum, s.calls) || !near(s.least, row.min, 1) || !near(s.most, row.max, 1) {
				t.Errorf("%s: llvm-xray says %+v, we %+v", name, row, s)
			}
			delete(sums, row.name)
		}
		if len(sums) != 0 {
			t.Errorf("%s: llvm-xray does not know %v", name, sums)
		}
	}
}

// near compares nanoseconds with seconds of seven digits, as sums of n values that were
// rounded.
func near(ns uint64, seconds float64, n int) bool {
	return math.Abs(float64(ns)-seconds*1e9) <= 2*float64(n)+seconds*1e9*1e-6
}

// known is what the program says of itself.
type known struct {
	pid         uint32
	threads     []uint32
	time, count uint64 // at one moment
	calls       map[string]int
	thrown      int
}

func knownCalls(t *testing.T, path string) *known {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	k := &known{calls: make(map[string]int)}
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var tid uint32
		var s, ns uint64
		var name string
		var n int
		switch word {
		case "process":
			_, err = fmt.Sscan(rest, &k.pid)
		case "clock":
			_, err = fmt.Sscanf(rest, "%d.%d %d", &s, &ns, &k.count)
			k.time = s*1e9 + ns
		case "thread":
			_, err = fmt.Sscan(rest, &tid)
			k.threads = append(k.threads, tid)
		case "calls":
			_, err = fmt.Sscan(rest, &name, &n)
			k.calls[name] = n
		case "thrown":
			_, err = fmt.Sscan(rest, &k.thrown)
		}
		if err != nil {
			t.Fatalf("%s: got %q: %v; want no error", path, line, err)
		}
	}
	return k
}

// An accountRow is what llvm-xray account says of a function, in seconds.
type accountRow struct {
	name          string
	count         int
	min, max, sum float64
}

func account(t *testing.T, path string) (rows []accountRow) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records[1:] {
		value := func(i int) float64 {
			v, err := strconv.ParseFloat(r[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		name, _, _ := strings.Cut(r[9], "(")
		rows = append(rows, accountRow{name, int(value(1)), value(2), value(6), value(7)})
	}
	return rows
}

// A made trace has what a test writes into it.
func madeXRay(t *testing.T, h *xrayfdr.Header, write func(w *xraygen.Writer)) *Log {
	t.Helper()
	file := xrayBytes(t, h, write)
	x, err := ReadLog(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func xrayBytes(t *testing.T, h *xrayfdr.Header, write func(w *xraygen.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := xraygen.NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	write(w)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// stepsOf writes the steps of all threads of a process as words.
func stepsOf(t *testing.T, p *Process, functions int) (words []string, trace *Trace) {
	t.Helper()
	trace = p.Trace(Place{PID: p.PID, Function: func(id uint32) (uint64, bool) { return uint64(id) * 16, int(id) <= functions }})
	threads, err := trace.Threads(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		for {
			var s calls.Step
			err := thread.Next(&s)
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			kind := []string{"enter", "exit", "tail", "unwound", "note", "gap"}[s.Kind]
			words = append(words, fmt.Sprintf("%d %d %s %d %x %d %q", thread.TID(), s.Time, kind, s.Function/16, s.Args, s.Type, s.Payload))
		}
	}
	return words, trace
}

// Buffers lie in a file in the order in which they were used last. A thread's steps are in
// the order of time all the same; arguments belong to the call before them, functions that
// the program does not have are left out with their exits.
func TestXRayLog_StepsInOrderOfTime(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		h := &xrayfdr.Header{Order: order.(binary.ByteOrder), Version: 5, CycleFrequency: 2_000_000_000, BufferSize: 4096}
		x := madeXRay(t, h, func(w *xraygen.Writer) {
			block := func(tid uint32, tsc uint64) *xrayfdr.Block {
				return &xrayfdr.Block{TID: tid, PID: 7, TSC: tsc, Seconds: 100, Microseconds: uint32(tsc / 2000), CPU: 3}
			}
			w.Begin(block(9, 8000))
			w.Function(xrayfdr.TailExit, 2, 8200)
			w.Function(xrayfdr.Enter, 77, 8300)
			w.Function(xrayfdr.Exit, 77, 8400)
			w.Function(xrayfdr.Exit, 1, 8600)
			w.Begin(block(8, 2000))
			w.Function(xrayfdr.EnterArgs, 3, 2000)
			w.Argument(0xab)
			w.Argument(0xcd)
			w.CustomEvent(2100, []byte("said"))
			w.TypedEvent(5, 2200, []byte("typed"))
			w.Function(xrayfdr.Exit, 3, 2400)
			w.Begin(block(9, 4000))
			w.Function(xrayfdr.Enter, 1, 4000)
			w.Function(xrayfdr.Enter, 2, 6000)
		})
		const base = 100_000_000_000 + 500 // a microsecond's middle
		want := []string{
			fmt.Sprintf("8 %d enter 3 [ab cd] 0 \"\"", base+1000), fmt.Sprintf("8 %d note 0 [] 0 \"said\"", base+1050),
			fmt.Sprintf("8 %d note 0 [] 5 \"typed\"", base+1100), fmt.Sprintf("8 %d exit 3 [] 0 \"\"", base+1200),
			fmt.Sprintf("9 %d enter 1 [] 0 \"\"", base+2000), fmt.Sprintf("9 %d enter 2 [] 0 \"\"", base+3000),
			fmt.Sprintf("9 %d tail 2 [] 0 \"\"", base+4100), fmt.Sprintf("9 %d exit 1 [] 0 \"\"", base+4300),
		}
		got, trace := stepsOf(t, x.Processes[0], 3)
		if !slices.Equal(got, want) {
			t.Errorf("for %v: got\n%s\nwant\n%s", order, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if p := trace.Problems(); len(p) != 1 || !strings.Contains(p[0].Text, "1 call of function 77, which the program does not have, is left out") {
			t.Errorf(`got %+v; want 1 problem, p[0].Text with "1 call of function 77, which the program does not have, is left out"`, p)
		}
		if again, _ := stepsOf(t, x.Processes[0], 3); !slices.Equal(again, want) {
			t.Errorf("the second time:\n%s", strings.Join(again, "\n"))
		}
	}
}

// A buffer that breaks off leaves a gap in its thread, and the next one goes on.
func TestXRayLog_DamagedBuffer(t *testing.T) {
	h := &xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: 1e9, BufferSize: 4096}
	file := xrayBytes(t, h, func(w *xraygen.Writer) {
		for i := range uint64(3) {
			w.Begin(&xrayfdr.Block{TID: 9, PID: 7, TSC: 1000 * i, Seconds: 100, Microseconds: uint32(i)})
			w.Function(xrayfdr.Enter, 1, 1000*i+100)
			w.Function(xrayfdr.Exit, 1, 1000*i+200)
			w.Function(xrayfdr.Enter, 2, 1000*i+300)
			w.Function(xrayfdr.Exit, 2, 1000*i+400)
		}
	})
	x, err := ReadLog(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	b := &x.pieces[1]
	at := b.end() - 16
	copy(file[at:], "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f")
	words, trace := stepsOf(t, x.Processes[0], 3)
	if n := len(words); n != 11 || !strings.Contains(words[6], "gap") || !strings.Contains(words[7], "enter 1") {
		t.Errorf("%d steps:\n%s", n, strings.Join(words, "\n"))
	}
	if p := trace.Problems(); len(p) != 1 || p[0].Offset != at {
		t.Errorf("got %+v; want one problem at offset %d", p, at)
	}
}

func TestReadXRay_NoTrace(t *testing.T) {
	for _, text := range []string{"", "PERFILE2", strings.Repeat("x", 1000)} {
		if _, err := ReadLog(strings.NewReader(text), int64(len(text))); err == nil || len(text) > 100 && !errors.Is(err, xrayfdr.ErrNotXRay) {
			t.Errorf("%.10q: got %v; want an error, at most 100 text or an error that is ErrNotXRay", text, err)
		}
	}
}
