package show_test

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/testrec"
)

// smallRecording has records of many types, and samples with all that can be in them.
func smallRecording() *testrec.Recording {
	r := testrec.NewRecording()
	r.SampleType |= testrec.Callchain | testrec.Read | testrec.Raw | testrec.Branches | testrec.RegsUser | testrec.RegsIntr |
		testrec.Weight | testrec.DataSrc | testrec.Transact | testrec.PhysAddr | testrec.Aux | testrec.Cgroup | testrec.DataPage | testrec.CodePage
	r.Registers = 1<<6 | 1<<7 | 1<<8
	r.ReadFormat = 1 | 4
	r.Comm(1, 1000, "sh", true)
	r.Fork(17, 1, 2_000_000_000)
	r.Comm(17, 2_000_001_000, "a \"name\"\x1b[31m\xff", false)
	r.Namespaces(17, 2_000_001_500, 4026531840, 4026531838)
	r.FileMmap2(17, 2_000_002_000, 0x400000, 0x2000, 0x1000, "/usr/bin/program", 4711)
	r.Mmap2(17, 2_000_003_000, 0x7f0000001000, 0x1000, 0, "//anon")
	r.Touch(testrec.Touch{
		PID: 17, Time: 2_000_004_000, IP: 0x7f0000001004, Addr: 0xdead, Chain: []uint64{^uint64(511), 0x7f0000001004, 0x400010},
		Raw: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, Branches: [][2]uint64{{0x400000, 0x7f0000001000}},
		ABI: 2, User: []uint64{6, 7, 8}, Intr: []uint64{16, 17, 18}, Aux: []byte{1, 2, 3, 4, 5, 6, 7, 8},
	})
	r.Touch(testrec.Touch{PID: 17, Time: 2_000_005_000, IP: 0x400010, Raw: []byte{1, 2, 3, 4}})
	r.Deferred(17, 2_000_006_000, 99, 0x400020)
	r.Kernel(2, 0, r.Order.AppendUint64(r.Order.AppendUint64(nil, 77), 3), 17, 2_000_006_500)
	r.Raw(99, 0, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	r.Exit(17, 17, 2_000_007_000)
	r.Round()
	return r
}

func filter(t *testing.T, set func(*show.Filter)) show.Options {
	t.Helper()
	o := show.Options{JSON: true}
	set(&o.Filter)
	return o
}

// kinds are the types of items and the names or times that tell them apart.
func kinds(t *testing.T, lines string) (list []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var it struct {
			Type, Name, Time, Comm, Filename string
			Addr                             string `json:"code_addr"`
		}
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			t.Fatal(err)
		}
		if it.Type != "file" {
			list = append(list, strings.TrimSpace(it.Type+" "+it.Name+it.Comm+it.Filename))
		}
	}
	return list
}

func mustRange(t *testing.T, parse func(string) (show.Range, error), s string) show.Range {
	t.Helper()
	r, err := parse(s)
	if err != nil {
		t.Fatal(s, err)
	}
	return r
}

func mustName(t *testing.T, s string) []show.Name {
	t.Helper()
	n, err := show.ParseName(s)
	if err != nil {
		t.Fatal(s, err)
	}
	return []show.Name{n}
}

// Filters let through what they say, of dumps with what belongs to a function, and of
// recordings.
func TestFilters(t *testing.T) {
	dir := t.TempDir()
	spec := filepath.Join(dir, "spec.dump")
	put(t, spec, testrec.Hex(t, "../../jitdump/testdata/spec.hex"))
	data := filepath.Join(dir, "small.data")
	put(t, data, smallRecording().Bytes())
	for _, c := range []struct {
		name, path string
		set        func(*show.Filter)
		want       []string
	}{
		{"all of a dump", spec, func(*show.Filter) {}, []string{"header", "JIT_CODE_DEBUG_INFO", "JIT_CODE_UNWINDING_INFO", "JIT_CODE_LOAD foo", "JIT_CODE_MOVE", "type 99", "JIT_CODE_CLOSE"}},
		{"a function with what describes it, and its move", spec, func(f *show.Filter) { f.Names = mustName(t, "fo") },
			[]string{"JIT_CODE_DEBUG_INFO", "JIT_CODE_UNWINDING_INFO", "JIT_CODE_LOAD foo", "JIT_CODE_MOVE"}},
		{"no function", spec, func(f *show.Filter) { f.Names = mustName(t, "/^oo/") }, nil},
		{"a function by its whole name", spec, func(f *show.Filter) { f.Names = mustName(t, "/^foo$/"); f.Types = []string{"load"} }, []string{"JIT_CODE_LOAD foo"}},
		{"types", spec, func(f *show.Filter) { f.Types = []string{"JIT_CODE_MOVE", "close"} }, []string{"JIT_CODE_MOVE", "JIT_CODE_CLOSE"}},
		{"another process", spec, func(f *show.Filter) { f.PIDs = []uint32{1} }, nil},
		{"an address inside", spec, func(f *show.Filter) { f.Address = mustRange(t, show.ParseAddress, "1001"); f.Types = []string{"load"} }, []string{"JIT_CODE_LOAD foo"}},
		{"an address behind", spec, func(f *show.Filter) {
			f.Address = mustRange(t, show.ParseAddress, "0x900+0x100")
			f.Types = []string{"load"}
		}, nil},

		{"a process", data, func(f *show.Filter) { f.PIDs = []uint32{1} }, []string{"COMM sh"}},
		{"a time", data, func(f *show.Filter) { f.Time = mustRange(t, show.ParseTime, "2.000002-2.000003") },
			[]string{"MMAP2 /usr/bin/program", "MMAP2 //anon"}},
		{"a time in nanoseconds", data, func(f *show.Filter) {
			f.Time = mustRange(t, show.ParseTime, "2000003000ns,")
			f.Types = []string{"sample", "mmap2"}
		},
			[]string{"MMAP2 //anon", "SAMPLE", "SAMPLE"}},
		{"the name of a mapping", data, func(f *show.Filter) { f.Names = mustName(t, "program") }, []string{"MMAP2 /usr/bin/program"}},
		{"an address of mappings and samples", data, func(f *show.Filter) { f.Address = mustRange(t, show.ParseAddress, "7f0000001000-7f0000001fff") },
			[]string{"MMAP2 //anon", "SAMPLE"}},
		{"no samples", data, func(f *show.Filter) {
			f.NoSamples = true
			f.PIDs = []uint32{17}
			f.Time = mustRange(t, show.ParseTime, "2.000003-")
		},
			[]string{"MMAP2 //anon", "CALLCHAIN_DEFERRED", "LOST", "EXIT"}},
		{"a type without a name", data, func(f *show.Filter) { f.Types = []string{"type 99"} }, []string{"type 99"}},
	} {
		got := kinds(t, shown(t, c.path, filter(t, c.set)))
		if strings.Join(got, ", ") != strings.Join(c.want, ", ") {
			t.Errorf("%s: shown are %q, not %q", c.name, got, c.want)
		}
	}
	so := filepath.Join("testdata", "toyjit.so")
	if got := shown(t, so, filter(t, func(f *show.Filter) { f.Names = mustName(t, "nowhere") })); got != "" {
		t.Errorf("of an object without the function is shown %s", got)
	}
	if got := shown(t, so, filter(t, func(f *show.Filter) { f.Names = mustName(t, "deep") })); !strings.HasPrefix(got, `{"type":"file"`) {
		t.Errorf("of an object with the function is shown %.100s", got)
	}
	toyjit := testrec.Dumps(t, testrec.Unpack(t, "toyjit"))[0]
	got := kinds(t, shown(t, toyjit, filter(t, func(f *show.Filter) { f.Names = mustName(t, "/^deep$/") })))
	if want := []string{"SAMPLY_JIT_CODE_DEBUG_INFO2 deep", "JIT_CODE_LOAD deep"}; !slices.Equal(got, want) {
		t.Errorf("what belongs to deep is %q", got)
	}
}

func TestParseFilters(t *testing.T) {
	for s, want := range map[string]show.Range{
		"7f00":             {Set: true, First: 0x7f00, Last: 0x7f00},
		"0x7f00-0X8000":    {Set: true, First: 0x7f00, Last: 0x8000},
		"7f00-":            {Set: true, First: 0x7f00, Last: 1<<64 - 1},
		"-7f00":            {Set: true, Last: 0x7f00},
		"7f00+10":          {Set: true, First: 0x7f00, Last: 0x7f0f},
		"ffffffffffffffff": {Set: true, First: 1<<64 - 1, Last: 1<<64 - 1},
	} {
		if got, err := show.ParseAddress(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for s, want := range map[string]show.Range{
		"12":            {Set: true, First: 12e9, Last: 12e9 + 999999999},
		"12.5":          {Set: true, First: 12.5e9, Last: 12.6e9 - 1},
		"12.345678":     {Set: true, First: 12345678000, Last: 12345678999},
		"1-2.000000000": {Set: true, First: 1e9, Last: 2e9},
		"1,2.5":         {Set: true, First: 1e9, Last: 2.6e9 - 1},
		"-3s":           {Set: true, Last: 4e9 - 1},
		"17ns":          {Set: true, First: 17, Last: 17},
		"17ns-":         {Set: true, First: 17, Last: 1<<64 - 1},
	} {
		if got, err := show.ParseTime(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "-", "x", "1-x", "8-7", "1+0", "ffffffffffffffff+2", "1.2", "10000000000000000"} {
		if got, err := show.ParseAddress(s); err == nil {
			t.Errorf("address %q: %+v", s, got)
		}
	}
	for _, s := range []string{"", "-", "x", "2-1", "1.0000000001", "1.-5", "0x10", "18446744073709551615", "-1ns5", "1..2"} {
		if got, err := show.ParseTime(s); err == nil {
			t.Errorf("time %q: %+v", s, got)
		}
	}
	for _, s := range []string{"", "/(/"} {
		if _, err := show.ParseName(s); err == nil {
			t.Errorf("name %q is taken", s)
		}
	}
	for _, s := range []string{"", "-1", "4294967296", "x"} {
		if _, err := show.ParsePID(s); err == nil {
			t.Errorf("pid %q is taken", s)
		}
	}
	for _, s := range []string{"load", "JIT_CODE_LOAD", "debug_info2", "tier", "mmap2", "PERF_RECORD_SAMPLE", "header", "99"} {
		if _, err := show.ParseType(s); err != nil {
			t.Errorf("type %q: %v", s, err)
		}
	}
	for _, s := range []string{"", "samples", "type", "4294967296"} {
		if _, err := show.ParseType(s); err == nil {
			t.Errorf("type %q is taken", s)
		}
	}
}

// Files of which nothing can be shown say why.
func TestNothingToShow(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"empty": "", "text": "#!/bin/sh\n", "zeros": "\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		put(t, filepath.Join(dir, name), []byte(content))
		if err := show.File(os.Stdout, filepath.Join(dir, name), &show.Options{}); !errors.Is(err, show.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	put(t, filepath.Join(dir, "cut.dump"), []byte("DTiJ\x01\x00"))
	put(t, filepath.Join(dir, "cut.data"), []byte("PERFILE2\x68"))
	put(t, filepath.Join(dir, "cut.so"), []byte("\x7fELF\x02"))
	for _, name := range []string{"none", "cut.dump", "cut.data", "cut.so", "."} {
		var out bytes.Buffer
		if err := show.File(&out, filepath.Join(dir, name), &show.Options{}); err == nil || errors.Is(err, show.ErrUnknown) || out.Len() > 0 {
			t.Errorf("%s: %v, and %d bytes of output", name, err, out.Len())
		}
	}
}

// TestCutNumber: a last entry of .debug_info whose number has no end does not hold the
// reader for ever.
func TestCutNumber(t *testing.T) {
	objects, err := filepath.Glob("testdata/*.so")
	if err != nil || len(objects) == 0 {
		t.Fatal("no objects in testdata", err)
	}
	cut := 0
	for _, path := range objects {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		info := f.Section(".debug_info")
		if info == nil {
			continue
		}
		b[info.Offset+info.FileSize-1] = 0xff
		path = filepath.Join(t.TempDir(), "jitted-1-1.so")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := show.File(&out, path, &show.Options{}); err != nil && strings.Contains(err.Error(), "ends inside a number") {
			cut++
		}
	}
	if cut == 0 {
		t.Error("nobody notices")
	}
}
