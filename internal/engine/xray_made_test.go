package engine_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/format/xrayfdr/xraygen"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// madeXRay puts a made-up trace of process 100 into a world where that runs the program of a
// recording, 0x100000 above its own addresses. It returns the name and address of function 1.
func madeXRay(t *testing.T, w *world, header xrayfdr.Header, write func(*xraygen.Writer)) {
	t.Helper()
	program := filepath.Join(testrec.Unpack(t, "xray-emulated"), "calls")
	w.Mmap2(100, 900, 0x103000, madeXRayLength, 0x3000, program)
	w.Sample(100, 1000, 0x103000)
	w.Sample(100, 3000, 0x103000)
	put(t, w.path("xray.log"), xrayOf(t, header, write))
	w.opts.SideFiles, w.opts.Programs = []config.SideFile{{Kind: formats.XRay, Path: w.path("xray.log")}}, []string{program}
}

// madeXRayLength is how long the code of that program is mapped.
const madeXRayLength = 0x21000

// xrayOf returns a made-up trace.
func xrayOf(t *testing.T, header xrayfdr.Header, write func(*xraygen.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	xw, err := xraygen.NewWriter(&out, &header)
	if err != nil {
		t.Fatal(err)
	}
	write(xw)
	if err := xw.End(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Recorded without -k mono, a recording may say what counts of the processor's clock are in
// its own; then what the trace says of times does not matter.
func TestXRay_TimeConvRecord(t *testing.T) {
	w := newWorld(t)
	w.ClockID = -1
	conv := make([]byte, 24)
	for i, v := range []uint64{1, 4, 10} { // (count * 4 >> 1) + 10
		binary.LittleEndian.PutUint64(conv[8*i:], v)
	}
	w.Raw(79, 0, conv)
	madeXRay(t, w, xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: 2_500_000_000, BufferSize: 4096}, func(xw *xraygen.Writer) {
		xw.Begin(&xrayfdr.Block{TID: 100, PID: 100, TSC: 600, Seconds: 77})
		xw.Function(xrayfdr.Enter, 2, 600)
		xw.Function(xrayfdr.Enter, 1, 700)
		xw.Function(xrayfdr.Exit, 1, 750)
		xw.Function(xrayfdr.Exit, 2, 900)
	})
	sum, err := w.run()
	if err != nil || !sum.Complete() || sum.Traces[0].Clock.Kind != report.ClockTSC {
		t.Fatalf("got %v, %s; want no error, nothing missing, Traces[0].Clock.Kind = ClockTSC", err, asJSON(sum))
	}
	for _, perf := range testrec.Perfs(t) {
		var calls []string
		for _, s := range shownCalls(t, perf, w.opts.Output) {
			if s.event == "xray" {
				calls = append(calls, fmt.Sprintf("%d %d %s", s.time, s.period, strings.Join(s.chain, " ")))
			}
		}
		if got := strings.Join(calls, ", "); got != "1510 100 leaf branch, 1810 500 branch" {
			t.Errorf(`%s: got %s; want "1510 100 leaf branch, 1810 500 branch"`, perf, got)
		}
	}
	// Nanoseconds of CLOCK_REALTIME are no counts of the processor.
	w = newWorld(t)
	w.ClockID = -1
	w.Raw(79, 0, conv)
	madeXRay(t, w, xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: xrayfdr.EmulatedFrequency, BufferSize: 4096}, func(xw *xraygen.Writer) {
		xw.Begin(&xrayfdr.Block{TID: 100, PID: 100, TSC: 600, Seconds: 77})
		xw.Function(xrayfdr.Enter, 2, 600)
	})
	if sum, err = w.run(); err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "-k mono") {
		t.Errorf(`got %v, %s; want no error, 1 problem, Problems[0] with "-k mono"`, err, asJSON(sum))
	}
}

// Damage in one thread's buffer is told with its offset, and costs the rest of that buffer.
func TestXRay_DamagedBuffer(t *testing.T) {
	w := newWorld(t)
	madeXRay(t, w, xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: 1e9, BufferSize: 4096}, func(xw *xraygen.Writer) {
		for i := range uint64(2) {
			xw.Begin(&xrayfdr.Block{TID: 100, PID: 100, TSC: 1000 + 100*i, Microseconds: 1})
			for n := range uint64(3) {
				xw.Function(xrayfdr.Enter, 1, 1000+100*i+10*n)
				xw.Function(xrayfdr.Exit, 1, 1005+100*i+10*n)
			}
		}
		xw.Function(xrayfdr.Enter, 1<<24+1, 1200)
	})
	path := w.path("xray.log")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const at = 32 + 5*16 + 3*8 // the second exit of the first buffer
	copy(file[at:], "\x7f\x7f\x7f\x7f")
	put(t, path, file)
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 2 || sum.Traces[0].Calls != 5 || sum.Traces[0].Gaps != 1 {
		t.Fatalf("got %v, %s; want no error, 2 problems, Traces[0].Calls = 5, Traces[0].Gaps = 1", err, asJSON(sum))
	}
	if p := sum.Problems[0]; p.Offset != at || !strings.Contains(p.Advice, "jitinject dump") {
		t.Errorf(`got %+v; want Offset = %v, Advice with "jitinject dump"`, p, at)
	}
	if p := sum.Problems[1]; !strings.Contains(p.String(), "1 calls of functions in shared objects (numbers 0x1000001 to 0x1000001) are left out") {
		t.Errorf(`got %+v; want text with "1 calls of functions in shared objects (numbers 0x1000001 to 0x1000001) are left out"`, p)
	}
}

// A program that has its trace written several times makes several files. They are one trace:
// what was called when a file ended goes on in the next, whichever is named first.
func TestXRay_SeveralFiles(t *testing.T) {
	w := newWorld(t)
	h := xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: 1e9, BufferSize: 4096}
	buffer := func(xw *xraygen.Writer, at uint64) {
		xw.Begin(&xrayfdr.Block{TID: 100, PID: 100, TSC: at, Microseconds: uint32(at / 1000)})
	}
	madeXRay(t, w, h, func(xw *xraygen.Writer) {
		buffer(xw, 1000)
		xw.Function(xrayfdr.Enter, 2, 1000)
		xw.Function(xrayfdr.Enter, 1, 1010)
		xw.Function(xrayfdr.Exit, 1, 1020)
	})
	put(t, w.path("second.log"), xrayOf(t, h, func(xw *xraygen.Writer) {
		buffer(xw, 2000)
		xw.Function(xrayfdr.Enter, 1, 2010)
		xw.Function(xrayfdr.Exit, 1, 2020)
		xw.Function(xrayfdr.Exit, 2, 2030)
	}))
	w.opts.SideFiles = []config.SideFile{{Kind: formats.XRay, Path: w.path("second.log")}, {Kind: formats.XRay, Path: w.path("xray.log")}}
	sum, err := w.run()
	if err != nil || !sum.Complete() || len(sum.Traces) != 1 || sum.Traces[0].Calls != 3 || sum.Traces[0].Unmatched+sum.Traces[0].Inferred != 0 || sum.Traces[0].XRay.More != 1 {
		t.Fatalf("got %v, %s; want no error, nothing missing, 1 trace, Traces[0].Calls = 3, Traces[0].Unmatched+Traces[0].Inferred = 0, Traces[0].XRay.More = 1", err, asJSON(sum))
	}
	for _, perf := range testrec.Perfs(t) {
		var chains []string
		for _, s := range shownCalls(t, perf, w.opts.Output) {
			if s.event == "xray" {
				chains = append(chains, strings.Join(s.chain, " "))
			}
		}
		if got := strings.Join(chains, ", "); got != "leaf branch, leaf branch, branch" {
			t.Errorf(`%s: got %s; want "leaf branch, leaf branch, branch"`, perf, got)
		}
	}
}

// A trace of LLVM 5 to 7 is not read, and the summary says which LLVM is needed.
func TestXRay_OldVersion(t *testing.T) {
	w := newWorld(t)
	madeXRay(t, w, xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: 1e9, BufferSize: 4096}, func(xw *xraygen.Writer) {})
	put(t, w.path("xray.log"), testrec.Gunzip(t, "../format/xrayfdr/testdata/old/llvm-version-3.xray.gz"))
	sum, err := w.run()
	const want = "version 3 is not read: LLVM 5 to 7 wrote such traces; only those of LLVM 8 or newer are read"
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), want) {
		t.Errorf("got %v, %s; want no error, 1 problem, Problems[0] with %q", err, asJSON(sum), want)
	}
}

// A runtime whose buffers are full takes the oldest ones again, and says so nowhere. What
// the recording knows of the process tells.
func TestXRay_BuffersOverwritten(t *testing.T) {
	for _, test := range []struct {
		at      uint64 // when the trace begins
		first   xrayfdr.Kind
		length  uint64 // of calls
		other   bool   // there is another thread
		problem string
		note    string
	}{
		{at: 2_000, first: xrayfdr.Exit, length: 1},
		{at: 15_000_000, first: xrayfdr.Enter, length: 1},
		{at: 20_000_000, first: xrayfdr.Exit, length: 1, problem: "its beginning is missing: it covers the last 20ms of 40ms, and a call has no beginning in it; counts of calls are too low"},
		{at: 30_000_000, first: xrayfdr.Enter, length: 1, other: true, problem: "its beginning is missing: it covers the last 10ms of 40ms, and 1 of 2 threads have nothing in it"},
		{at: 30_000_000, first: xrayfdr.Enter, length: 1, note: "it covers the last 10ms of 40ms; if that is too little"},
		{at: 2_000, first: xrayfdr.Enter, length: 5001, note: "was func_duration_threshold_us=0 in XRAY_FDR_OPTIONS forgotten?"},
	} {
		w := newWorld(t)
		madeXRay(t, w, xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: 1e9, BufferSize: 4096}, func(xw *xraygen.Writer) {
			xw.Begin(&xrayfdr.Block{TID: 100, PID: 100, TSC: test.at, Microseconds: uint32(test.at / 1000)})
			xw.Function(test.first, 2, test.at)
			for n := range uint64(20) {
				xw.Function(xrayfdr.Enter, 1, test.at+10_000*n)
				xw.Function(xrayfdr.Exit, 1, test.at+10_000*n+test.length)
			}
		})
		w.Comm(100, 950, "calls", false)
		if test.other {
			fork := w.Order.AppendUint64(nil, 100<<32|100) // pid, ppid
			fork = w.Order.AppendUint64(fork, 100<<32|101) // tid, ptid
			w.Kernel(7, 0, w.Order.AppendUint64(fork, 1_000), 100, 1_000)
		}
		w.Sample(100, 40_000_000, 0x103000)
		sum, err := w.run()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(sum.Problems); len(sum.Problems) > 1 || sum.Complete() != (test.problem == "") || !strings.Contains(got, test.problem) {
			t.Errorf(`for %+v: got %s; want at most 1 problem, Complete() = test.problem == "", one with test.problem`, test, got)
		}
		if got := fmt.Sprint(sum.Notes); (len(sum.Notes) == 0) != (test.note == "") || !strings.Contains(got, test.note) {
			t.Errorf("for %+v: got notes %s; want %q", test, got, test.note)
		}
	}
}

// Who does not know of --xray is told, if there is a trace of a recorded program.
func TestXRay_TraceNotNamed(t *testing.T) {
	for name, want := range map[string]int{"xray-log.calls.a1B2c3": 1, "xray-log.others.a1B2c3": 0} {
		dir := testrec.Place(t, "xray-emulated")
		if err := os.Rename(filepath.Join(dir, "xray-log.calls"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		sum := xrayed(t, dir, func(o *config.Options) { o.SideFiles = nil })
		if len(sum.Notes) != want || want > 0 && !strings.Contains(sum.Notes[0], fmt.Sprintf("Kind: xray, Path: %q}", filepath.Join(dir, name))) {
			t.Errorf("%s: got notes %q; want %d, of which the first names the file", name, sum.Notes, want)
		}
	}
}

// A trace that was copied while it was written has what is there, and that something is
// missing is said.
func TestXRay_CopiedWhileWritten(t *testing.T) {
	w := newWorld(t)
	h := xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: 1e9, BufferSize: 4096}
	madeXRay(t, w, h, func(xw *xraygen.Writer) {
		for i := range uint64(2) {
			xw.Begin(&xrayfdr.Block{TID: 100, PID: 100, TSC: 1000 + 100*i, Microseconds: 1})
			for n := range uint64(3) {
				xw.Function(xrayfdr.Enter, 1, 1000+100*i+10*n)
				xw.Function(xrayfdr.Exit, 1, 1005+100*i+10*n)
			}
		}
	})
	path := w.path("xray.log")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, file[:len(file)-4])
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "it ends inside a buffer; later records are missing; let the program end") || sum.Traces[0].Calls != 6 || sum.Traces[0].Inferred != 1 {
		t.Errorf(`got %v, %s; want no error, 1 problem, Problems[0] with "it ends inside a buffer; later records are missing; let the program end", Traces[0].Calls = 6, Traces[0].Inferred = 1`, err, asJSON(sum))
	}
}
