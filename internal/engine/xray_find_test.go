package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/format/xrayfdr/xraygen"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/testrec"
)

// rewriteXRay writes a trace anew, with blocks that change changes.
func rewriteXRay(t *testing.T, path string, change func(*xrayfdr.Block)) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := xrayfdr.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := xraygen.NewWriter(&out, r.Header())
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for {
		b, err := r.NextBlock()
		if err == io.EOF {
			break
		}
		check(err)
		block := *b
		change(&block)
		check(w.Begin(&block))
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			check(err)
			switch {
			case rec.Kind.IsFunction():
				check(w.Function(rec.Kind, rec.Function, rec.TSC))
			case rec.Kind == xrayfdr.CallArgument:
				check(w.Argument(rec.Argument))
			case rec.Kind == xrayfdr.CustomEvent:
				check(w.CustomEvent(rec.TSC, rec.Payload))
			}
		}
	}
	check(w.End())
	check(os.WriteFile(path, out.Bytes(), 0o600))
}

// It does not matter if the process had another number where it ran.
func TestXRay_ProcessWithAnotherNumber(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(*xrayfdr.Block)
		problem string
	}{
		{name: "in a pid namespace", change: func(b *xrayfdr.Block) { b.TID, b.PID = b.TID-b.PID+1, 1 }},
		{name: "of an earlier run", change: func(b *xrayfdr.Block) { b.TID, b.PID, b.Seconds = b.TID-b.PID+1, 1, b.Seconds-60 },
			problem: "it is of process 1, which is not in the recording; name the trace of the recorded run"},
		{name: "of a later run", change: func(b *xrayfdr.Block) { b.TID, b.PID, b.Seconds = b.TID-b.PID+1, 1, b.Seconds+60 },
			problem: "it is of process 1, which is not in the recording; name the trace of the recorded run"},
	} {
		dir := testrec.Place(t, "xray-tsc")
		_, all, _ := xrayTruth(t, dir)
		var pid, other uint32
		rewriteXRay(t, filepath.Join(dir, "xray-log.calls"), func(b *xrayfdr.Block) {
			if pid == 0 || b.PID < b.TID {
				pid = b.PID
			}
			other = max(other, b.TID)
			test.change(b)
		})
		sum := xrayed(t, dir, nil)
		if test.problem != "" {
			if len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), test.problem) {
				t.Errorf("%s: got %v; want 1 problem, Problems[0] with %q", test.name, sum.Problems, test.problem)
			}
			continue
		}
		if !sum.Complete() || len(sum.Traces) != 1 || sum.Traces[0].PID != pid || int(sum.Traces[0].Calls) != all {
			t.Errorf("%s: %v, %+v; process %d, %d calls", test.name, sum.Problems, sum.Traces, pid, all)
			continue
		}
		for _, perf := range testrec.Perfs(t) {
			for _, s := range shownCalls(t, perf, filepath.Join(dir, "out.data")) {
				if s.event == "xray" && s.tid != int(pid) && s.tid != int(other) {
					t.Fatalf("%s: a call in thread %d, there are %d and %d", test.name, s.tid, pid, other)
				}
			}
		}
	}
}

// The program is where it was recorded, beside the recording, or where an option says; and
// it is the one that was recorded.
func TestXRay_ProgramFound(t *testing.T) {
	gone := func(t *testing.T, dir string) string {
		if err := os.Mkdir(filepath.Join(dir, "moved"), 0o700); err != nil {
			t.Fatal(err)
		}
		moved := filepath.Join(dir, "moved", "calls")
		if err := os.Rename(filepath.Join(dir, "calls"), moved); err != nil {
			t.Fatal(err)
		}
		return moved
	}
	// Another build has another build id.
	rebuilt := func(t *testing.T, path string) {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(file, []byte("\x04\x00\x00\x00\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00"))
		file[at+20]++
		if err := os.WriteFile(path, file, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name    string
		change  func(t *testing.T, dir string, o *config.Options)
		problem string
	}{
		{"there", func(*testing.T, string, *config.Options) {}, ""},
		{"named", func(t *testing.T, dir string, o *config.Options) { o.Programs = []string{gone(t, dir)} }, ""},
		{"in a directory for dumps", func(t *testing.T, dir string, o *config.Options) { o.DumpDirs = []string{filepath.Dir(gone(t, dir))} }, ""},
		{"gone", func(t *testing.T, dir string, o *config.Options) { gone(t, dir) }, "calls: the program is not there any more; name the program, of the build that was recorded, with `Options.Programs = FILE`"},
		{"rebuilt", func(t *testing.T, dir string, o *config.Options) { rebuilt(t, filepath.Join(dir, "calls")) }, "this is another build than the one that was recorded; name"},
		{"another build named", func(t *testing.T, dir string, o *config.Options) {
			o.Programs = []string{gone(t, dir)}
			rebuilt(t, o.Programs[0])
		}, "moved/calls: this is another build than the one that was recorded; name"},
		{"without XRay", func(t *testing.T, dir string, o *config.Options) {
			path := filepath.Join(dir, "calls")
			file, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, bytes.ReplaceAll(file, []byte("xray_instr_map"), []byte("xray_instr_mop")), 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "it was not built with -fxray-instrument"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := testrec.Place(t, "xray-emulated")
			_, all, _ := xrayTruth(t, dir)
			sum := xrayed(t, dir, func(o *config.Options) { test.change(t, dir, o) })
			switch {
			case test.problem != "":
				if len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), test.problem) || len(sum.Traces) != 0 {
					t.Errorf("got %v, %+v; want 1 problem, Problems[0] with %q, no traces", sum.Problems, sum.Traces, test.problem)
				}
			case !sum.Complete() || int(sum.Traces[0].Calls) != all:
				t.Errorf("got %v, %+v; want nothing missing, Traces[0].Calls = %v", sum.Problems, sum.Traces, all)
			}
		})
	}
}

// Without a build id the file that was mapped is known by its inode, and any other may be
// another build: it has to be named, has to fit what was mapped, and has to have the functions
// of the trace.
func TestXRay_ProgramWithoutBuildID(t *testing.T) {
	for _, test := range []struct {
		name      string
		id        uint32 // of the function in the trace
		length    uint64 // of the mapping, too much
		change    func(t *testing.T, program string, o *config.Options)
		unchecked bool
		problem   string
	}{
		{name: "there"},
		{name: "rebuilt", change: replaceProgram, problem: "calls: this is another build than the one that was recorded; name"},
		{name: "rebuilt, and named", change: func(t *testing.T, program string, o *config.Options) {
			replaceProgram(t, program, o)
			o.Programs = []string{program}
		}, unchecked: true},
		{name: "rebuilt, and named, without one of its functions", id: 4000, change: func(t *testing.T, program string, o *config.Options) {
			replaceProgram(t, program, o)
			o.Programs = []string{program}
		}, problem: "this is another build than the one that was recorded: the trace has a function 4000, and this program has 12; name"},
		{name: "named, and shorter", length: 0x5000, change: func(t *testing.T, program string, o *config.Options) {
			replaceProgram(t, program, o)
			o.Programs = []string{program}
		}, problem: "its code is not as long as what was mapped; name"},
		{name: "a copy of what is gone", change: func(t *testing.T, program string, o *config.Options) {
			replaceProgram(t, program, o)
			dir := filepath.Join(filepath.Dir(program), "copies")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(program, filepath.Join(dir, "calls")); err != nil {
				t.Fatal(err)
			}
			o.DumpDirs = []string{dir}
		}, unchecked: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			t.Chdir(w.dir)
			w.opts.Input = "perf.data" // beside it the program has another name, but is the same
			program := w.path("calls")
			file, err := os.ReadFile(filepath.Join(testrec.Unpack(t, "xray-emulated"), "calls"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(program, file, 0o700); err != nil {
				t.Fatal(err)
			}
			var st unix.Stat_t
			if err := unix.Stat(program, &st); err != nil {
				t.Fatal(err)
			}
			w.Major, w.Minor = unix.Major(st.Dev), unix.Minor(st.Dev)
			w.FileMmap2(100, 900, 0x103000, madeXRayLength+test.length, 0x3000, program, st.Ino)
			w.Sample(100, 3000, 0x103000)
			put(t, w.path("xray.log"), xrayOf(t, xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: 1e9, BufferSize: 4096}, func(xw *xraygen.Writer) {
				xw.Begin(&xrayfdr.Block{TID: 100, PID: 100, TSC: 1000, Microseconds: 1})
				xw.Function(xrayfdr.Enter, 1, 1000)
				xw.Function(xrayfdr.Exit, 1, 1005)
				xw.Function(xrayfdr.Enter, max(test.id, 1), 1010)
			}))
			w.opts.SideFiles = []config.SideFile{{Kind: formats.XRay, Path: w.path("xray.log")}}
			if test.change != nil {
				test.change(t, program, &w.opts)
			}
			sum, err := w.run()
			switch {
			case err != nil:
				t.Fatal(err)
			case test.problem != "":
				if len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), test.problem) || len(sum.Traces) != 0 {
					t.Errorf("got %v, %+v; want 1 problem, Problems[0] with %q, no traces", sum.Problems, sum.Traces, test.problem)
				}
			case !sum.Complete() || len(sum.Traces) != 1 || sum.Traces[0].Calls != 2 || sum.Traces[0].XRay.Unchecked != test.unchecked:
				t.Errorf("got %v, %+v; want nothing missing, 1 trace, Traces[0].Calls = 2, Traces[0].XRay.Unchecked = %v", sum.Problems, sum.Traces, test.unchecked)
			}
		})
	}
}

// replaceProgram puts another file into a program's place, as a linker does.
func replaceProgram(t *testing.T, program string, _ *config.Options) {
	t.Helper()
	file, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(program+".new", file, 0o700)
	}
	if err == nil {
		err = os.Rename(program+".new", program)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What cannot be followed ends the run, with what is wrong.
func TestXRay_UnusableOptions(t *testing.T) {
	dir := testrec.Place(t, "xray-emulated")
	for _, test := range []struct {
		xray, binary []string
		error        string
	}{
		{[]string{dir + "/no-log"}, nil, "no-log\"}`: there is no such file"},
		{[]string{dir}, nil, "not a regular file"},
		{[]string{dir + "/xray-log.calls", dir + "/calls"}, nil, fmt.Sprintf("`Options.SideFiles{Kind: xray, Path: %q}`: not", dir+"/calls") + " an XRay flight data recorder trace"},
		{nil, []string{dir + "/calls"}, "name one with `Options.SideFiles{Kind: xray, Path: FILE}`"},
		{[]string{dir + "/xray-log.calls"}, []string{dir + "/perf.data"}, "perf.data\"`: it is no ELF file"},
		{[]string{dir + "/xray-log.calls"}, []string{"/bin/sh"}, "/bin/sh\"`: it has no section xray_instr_map: it was not built with -fxray-instrument"},
	} {
		_, err := engine.Run(context.Background(), config.Options{Input: dir + "/perf.data", Output: dir + "/out.data", SideFiles: traces(test.xray), Programs: test.binary})
		if err == nil || !strings.Contains(err.Error(), test.error) {
			t.Errorf("for %v, %v: got %v; want an error with %q", test.xray, test.binary, err, test.error)
		}
		if _, err := os.Stat(dir + "/out.data"); err == nil {
			t.Error("there is a result")
		}
	}
	// A trace that was not written to costs only itself: programs that were killed leave such.
	if err := os.WriteFile(dir+"/xray-log.empty", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := xrayed(t, dir, func(o *config.Options) {
		o.SideFiles = append(o.SideFiles, config.SideFile{Kind: formats.XRay, Path: dir + "/xray-log.empty"})
	})
	if len(sum.Traces) != 1 || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "xray-log.empty: ") {
		t.Errorf(`got %v, %+v; want 1 trace, 1 problem, Problems[0] with "xray-log.empty: "`, sum.Problems, sum.Traces)
	}
}

// A program in a pid namespace is told by its program, and its threads by their order.
func TestXRay_PIDNamespace(t *testing.T) {
	clang := testrec.Tool(t, "clang++-14", "clang++")
	unshare := testrec.Tool(t, "unshare")
	testrec.CanRecord(t)
	if exec.Command(unshare, "--pid", "--fork", "--mount-proc", "true").Run() != nil {
		testrec.Skip(t, "no pid namespaces here")
	}
	dir := t.TempDir()
	if out, err := testrec.Command(t, dir, clang, "-O1", "-fxray-instrument", "-pthread", "-o", "calls", testrec.Path("xray", "calls.cc"), testrec.Path("..", "cmd", "jitinject", "help", "recorder.cc")).CombinedOutput(); err != nil {
		t.Fatalf("unexpected error: %v\n%s", err, out)
	}
	recordXRay(t, dir, "XRAY_FDR_OPTIONS=func_duration_threshold_us=0 buffer_max=100", unshare, "--pid", "--fork", "--mount-proc", "./calls", "20", "1000", "0")
	_, all, _ := xrayTruth(t, dir)
	sum := xrayed(t, dir, nil)
	if !sum.Complete() || len(sum.Traces) != 1 || int(sum.Traces[0].Calls) != all || sum.Traces[0].Command != "calls" || sum.Traces[0].PID < 10 {
		t.Fatalf(`got %v, %+v; want nothing missing, 1 trace, Traces[0].Calls = %v, Traces[0].Command = "calls", Traces[0].PID >= 10`, sum.Problems, sum.Traces, all)
	}
	tids := make(map[int]int)
	for _, s := range shownCalls(t, testrec.Tool(t, "perf"), filepath.Join(dir, "out.data")) {
		if s.event == "xray" {
			tids[s.tid]++
		}
	}
	if pid := int(sum.Traces[0].PID); len(tids) != 2 || tids[pid] != all/2 || tids[1] != 0 {
		t.Errorf("calls by thread: %v, process %d", tids, pid)
	}
}

// traces returns traces of XRay as side files.
func traces(paths []string) (files []config.SideFile) {
	for _, path := range paths {
		files = append(files, config.SideFile{Kind: formats.XRay, Path: path})
	}
	return files
}
