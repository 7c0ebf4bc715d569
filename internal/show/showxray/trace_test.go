package showxray_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// xrayTraces are traces of real runtimes, with what llvm-xray makes of them.
const xrayTraces = "../../format/xrayfdr/testdata/real"

// An xrayItem is a record as JSON has it.
type xrayItem struct {
	Type, Text, Payload string
	TID, PID, CPU       uint32
	TSC, Argument       uint64
	Delta, Seconds      int64
	Microseconds        uint32
	Function, Count     uint32
	BufferSize          uint64 `json:"buffer_size"`
	PayloadSize         int    `json:"payload_size"`
	EventType           int    `json:"event_type"`
}

// fdrLines are the lines of llvm-xray fdr-dump for what is shown of a trace as JSON.
func fdrLines(t *testing.T, shown string) (lines []string) {
	t.Helper()
	for line := range strings.Lines(shown) {
		var r xrayItem
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		data := r.Text
		if b, err := hex.DecodeString(r.Payload); err == nil && r.Text == "" {
			data = string(b)
		}
		add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
		switch r.Type {
		case "Enter":
			add("<Function Enter: #%d delta = +%d>", r.Function, r.Delta)
		case "EnterArgs":
			add("<Function Enter With Arg: #%d delta = +%d>", r.Function, r.Delta)
		case "Exit":
			add("<Function Exit: #%d delta = +%d>", r.Function, r.Delta)
		case "TailExit":
			add("<Function Tail Exit: #%d delta = +%d>", r.Function, r.Delta)
		case "NewBuffer":
			add("<Thread ID: %d>", r.TID)
		case "NewCPUId":
			add("<CPU: id = %d, tsc = %d>", r.CPU, r.TSC)
		case "TSCWrap":
			add("<TSC Wrap: base = %d>", r.TSC)
		case "WallTimeMarker":
			add("<Wall Time: seconds = %d.%06d>", r.Seconds, r.Microseconds)
		case "CustomEventMarker":
			add("<Custom Event: delta = +%d, size = %d, data = '%s'>", r.Delta, r.PayloadSize, data)
		case "TypedEventMarker":
			add("<Typed Event: delta = +%d, type = %d, size = %d, data = '%s'", r.Delta, r.EventType, r.PayloadSize, data)
		case "CallArgument":
			add("<Call Argument: data = %d (hex = 0x%x)>", r.Argument, r.Argument)
		case "BufferExtents":
			add("<Buffer: size = %d bytes>", r.BufferSize)
		case "PidEntry":
			add("<PID: %d>", r.PID)
		case "file", "header", "repairs":
		default:
			t.Errorf("llvm-xray has no line for %s", line)
		}
	}
	return lines
}

// Record for record, a trace is what llvm-xray fdr-dump reads, as far as that gets.
func TestFDRDump(t *testing.T) {
	traces, err := filepath.Glob(filepath.Join(xrayTraces, "*.xray.gz"))
	if err != nil || len(traces) < 8 {
		t.Fatal(traces, err)
	}
	for _, packed := range traces {
		name := strings.TrimSuffix(filepath.Base(packed), ".xray.gz")
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "xray-log.x")
			showtest.Put(t, path, testrec.Gunzip(t, packed))
			ours := fdrLines(t, showtest.Shown(t, path, show.Options{JSON: true}))
			theirs := strings.Split(strings.TrimSuffix(string(testrec.Gunzip(t, strings.Replace(packed, ".xray.", ".fdr-dump.txt.", 1))), "\n"), "\n")
			switch name {
			case "v5-llvm14-typed": // it gives up behind the first buffer
				ours = ours[:len(theirs)]
			}
			if len(theirs) < 5 {
				t.Fatal(theirs)
			}
			for i := range max(len(ours), len(theirs)) {
				if showtest.LineAt(ours, i) != showtest.LineAt(theirs, i) {
					t.Fatalf("record %d is\n%s\nllvm-xray has\n%s", i+1, showtest.LineAt(ours, i), showtest.LineAt(theirs, i))
				}
			}
		})
	}
}

// The names of functions come from the program, and filters go by them.
func TestXRayNames(t *testing.T) {
	clang := "clang++-14"
	if _, err := exec.LookPath(clang); err != nil {
		clang = "clang++"
		if _, err := exec.LookPath(clang); err != nil {
			testrec.Missing(t, "%s", clang)
		}
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "threads")
	source, err := filepath.Abs("../../format/xrayfdr/testdata/threads.cc")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(clang, "-O1", "-std=c++17", "-fxray-instrument", source, "-o", program, "-lpthread").CombinedOutput(); err != nil {
		testrec.Skip(t, "clang++ cannot build it: %s", out)
	}
	cmd := exec.Command(program, "func_duration_threshold_us=0")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	logs, _ := filepath.Glob(filepath.Join(dir, "xray-log.*"))
	if len(logs) != 1 {
		t.Fatal(logs)
	}
	text := showtest.Shown(t, logs[0], show.Options{Program: program})
	functions := regexp.MustCompile(`(?m) function=\d+( name=.*)?$`).FindAllStringSubmatch(text, -1)
	if !strings.Contains(text, "name=leaf(int)") || len(functions) == 0 || slices.ContainsFunc(functions, func(f []string) bool { return f[1] == "" }) {
		t.Errorf("not all functions have names:\n%s", text)
	}
	// fib(5) makes 15 calls, once in each of two threads: the compiler knows that it gives
	// the same again.
	opts := show.Options{Program: program, Filter: show.Filter{Names: showtest.Names(t, "/^fib/")}}
	if n := strings.Count(showtest.Shown(t, logs[0], opts), "name=fib(int)\n"); n != 2*30 {
		t.Errorf("%d records have the name, want %d", n, 2*30)
	}
}

// What is shown of small traces, byte for byte: whole, and with damage.
func TestGoldenXRay(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	trace := showtest.XRayTrace(t, binary.LittleEndian)
	showtest.Put(t, "xray5", trace)
	showtest.Put(t, "xray5-swapped", showtest.XRayTrace(t, binary.BigEndian))
	damaged := bytes.Clone(trace[:len(trace)-3])
	damaged[32+5*16] = 0x1f // no kind of record
	showtest.Put(t, "xray-damaged", damaged)
	showtest.Golden(t, testdata, "xray5.txt", showtest.Whole(t, "xray5", show.Options{Hex: true}))
	showtest.Golden(t, testdata, "xray5.json", showtest.Whole(t, "xray5", show.Options{JSON: true}))
	showtest.Golden(t, testdata, "xray-damaged.txt", showtest.Shown(t, "xray-damaged", show.Options{}))
	swapped := strings.NewReplacer("xray5-swapped", "xray5", "big-endian", "little-endian").Replace(showtest.Whole(t, "xray5-swapped", show.Options{}))
	if want := showtest.Whole(t, "xray5", show.Options{}); swapped != want {
		t.Errorf("in the other byte order:\n%s\nwant\n%s", swapped, want)
	}
}

// Filters let through what they say of traces.
func TestXRayFilters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "xray-log.x")
	showtest.Put(t, path, showtest.XRayTrace(t, binary.LittleEndian))
	for _, c := range []struct {
		name string
		set  func(*show.Filter)
		want []string
	}{
		{"types", func(f *show.Filter) { f.Types = []string{"tailexit", "newcpuid"} }, []string{"NewCPUId", "TailExit", "NewCPUId", "NewCPUId"}},
		{"a time", func(f *show.Filter) { f.Time = showtest.Range(t, show.ParseTime, "5.0000018-5.0000019") }, []string{"TailExit"}},
		{"another process", func(f *show.Filter) { f.PIDs = []uint32{18} }, nil},
		{"the process", func(f *show.Filter) { f.PIDs = []uint32{17}; f.Types = []string{"CallArgument"} }, []string{"CallArgument"}},
		{"names without a program", func(f *show.Filter) { f.Names = showtest.Names(t, "main") }, nil},
	} {
		got := showtest.Kinds(t, showtest.Shown(t, path, showtest.Options(t, c.set)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A trace may hold nothing; bytes behind it are counted.
func TestXRay_EmptyTraces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "xray-log.x")
	trace := showtest.XRayTrace(t, binary.LittleEndian)
	for _, c := range []struct {
		name   string
		file   []byte
		empty  bool
		damage string
	}{
		{"nothing", trace[:32], true, ""},
		{"other bytes", append(slices.Clone(trace), make([]byte, 100)...), false, "100 bytes are not read"},
	} {
		showtest.Put(t, path, c.file)
		var out bytes.Buffer
		err := showtest.File(&out, path, &show.Options{})
		if (err == nil) != (c.damage == "") || err != nil && !strings.Contains(err.Error(), c.damage) {
			t.Errorf("%s: %v, want %q", c.name, err, c.damage)
		}
		if none := strings.Contains(out.String(), "records=none"); none != c.empty {
			t.Errorf("%s:\n%s", c.name, out.String())
		}
	}
}

// What is no trace of the flight data recorder is refused with a reason.
func TestNotXRay(t *testing.T) {
	dir := t.TempDir()
	trace := showtest.XRayTrace(t, binary.LittleEndian)
	for name, change := range map[string]func(b []byte) []byte{
		"basic mode":   func(b []byte) []byte { b[2] = 0; return b },
		"version 6":    func(b []byte) []byte { b[0] = 6; return b },
		"a cut header": func(b []byte) []byte { return b[:20] },
		"version 3":    func(b []byte) []byte { b[0] = 3; return b },
	} {
		path := filepath.Join(dir, "log")
		showtest.Put(t, path, change(bytes.Clone(trace)))
		var out bytes.Buffer
		if err := showtest.File(&out, path, &show.Options{}); err == nil || errors.Is(err, show.ErrUnknown) || out.Len() > 0 {
			t.Errorf("%s: %v, and %d bytes of output", name, err, out.Len())
		}
	}
	path := filepath.Join(dir, "log")
	showtest.Put(t, path, trace)
	if err := showtest.File(io.Discard, path, &show.Options{Program: path}); err == nil || !strings.Contains(err.Error(), "ELF") {
		t.Errorf("a program that is none: %v", err)
	}
}
