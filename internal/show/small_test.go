package show_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/display"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Filters let through what they say, of dumps with what belongs to a function.
func TestFilters(t *testing.T) {
	dir := t.TempDir()
	spec := filepath.Join(dir, "spec.dump")
	showtest.Put(t, spec, testrec.Hex(t, "../../jitdump/testdata/spec.hex"))
	mono := filepath.Join(dir, "small.mlpd")
	showtest.Put(t, mono, showtest.MonoLog(t, 17))
	for _, c := range []struct {
		name, path string
		set        func(*show.Filter)
		want       []string
	}{
		{"all of a dump", spec, func(*show.Filter) {}, []string{"header", "JIT_CODE_DEBUG_INFO", "JIT_CODE_UNWINDING_INFO", "JIT_CODE_LOAD foo", "JIT_CODE_MOVE", "type 99", "JIT_CODE_CLOSE"}},
		{"a function with what describes it, and its move", spec, func(f *show.Filter) { f.Names = showtest.Names(t, "fo") },
			[]string{"JIT_CODE_DEBUG_INFO", "JIT_CODE_UNWINDING_INFO", "JIT_CODE_LOAD foo", "JIT_CODE_MOVE"}},
		{"no function", spec, func(f *show.Filter) { f.Names = showtest.Names(t, "/^oo/") }, nil},
		{"a function by its whole name", spec, func(f *show.Filter) { f.Names = showtest.Names(t, "/^foo$/"); f.Types = []string{"load"} }, []string{"JIT_CODE_LOAD foo"}},
		{"types", spec, func(f *show.Filter) { f.Types = []string{"JIT_CODE_MOVE", "close"} }, []string{"JIT_CODE_MOVE", "JIT_CODE_CLOSE"}},
		{"another process", spec, func(f *show.Filter) { f.PIDs = []uint32{1} }, nil},
		{"an address inside", spec, func(f *show.Filter) {
			f.Address = showtest.Range(t, show.ParseAddress, "1001")
			f.Types = []string{"load"}
		}, []string{"JIT_CODE_LOAD foo"}},
		{"an address behind", spec, func(f *show.Filter) {
			f.Address = showtest.Range(t, show.ParseAddress, "0x900+0x100")
			f.Types = []string{"load"}
		}, nil},

		{"a process", mono, func(f *show.Filter) { f.PIDs = []uint32{17}; f.Types = []string{"jit"} }, []string{"method_jit Demo:Leaf (int)", "method_jit Demo:\x1b[31m\ufffd ()"}},
		{"a time", mono, func(f *show.Filter) { f.Time = showtest.Range(t, show.ParseTime, "2.000002-2.000003") }, []string{"class Node<T>", "vtable"}},
		{"a time in nanoseconds", mono, func(f *show.Filter) {
			f.Time = showtest.Range(t, show.ParseTime, "2000006000ns,2000007999ns")
			f.Types = []string{"enter", "leave"}
		},
			[]string{"method_enter Demo:Leaf (int)", "method_leave Demo:Leaf (int)"}},
		{"an address of code", mono, func(f *show.Filter) { f.Address = showtest.Range(t, show.ParseAddress, "7f0000001000-7f000000102f") }, []string{"method_jit Demo:Leaf (int)"}},
	} {
		got := showtest.Kinds(t, showtest.Shown(t, c.path, showtest.Options(t, c.set)))
		if strings.Join(got, ", ") != strings.Join(c.want, ", ") {
			t.Errorf("%s: shown are %q, not %q", c.name, got, c.want)
		}
	}
	toyjit := testrec.Dumps(t, testrec.Unpack(t, "toyjit"))[0]
	got := showtest.Kinds(t, showtest.Shown(t, toyjit, showtest.Options(t, func(f *show.Filter) { f.Names = showtest.Names(t, "/^deep$/") })))
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
	for _, s := range []string{"load", "JIT_CODE_LOAD", "debug_info2", "tier", "code-creation", "header", "99"} {
		if _, err := show.ParseType(s, display.Formats()); err != nil {
			t.Errorf("type %q: %v", s, err)
		}
	}
	for _, s := range []string{"", "sample", "type", "4294967296"} {
		if _, err := show.ParseType(s, display.Formats()); err == nil {
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
		showtest.Put(t, filepath.Join(dir, name), []byte(content))
		if err := showtest.File(os.Stdout, filepath.Join(dir, name), &show.Options{}); !errors.Is(err, show.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	showtest.Put(t, filepath.Join(dir, "cut.dump"), []byte("DTiJ\x01\x00"))
	showtest.Put(t, filepath.Join(dir, "cut.data"), []byte("PERFILE2\x68"))
	showtest.Put(t, filepath.Join(dir, "cut.so"), []byte("\x7fELF\x02"))
	showtest.Put(t, filepath.Join(dir, "-it's a.data"), []byte("PERFILE2\x68"))
	t.Chdir(dir)
	err := showtest.File(os.Stdout, "-it's a.data", &show.Options{})
	if want := `it is a recording; perf report -D -i './-it'\''s a.data' shows its records, and perf script --header-only -i './-it'\''s a.data' its header`; err == nil || err.Error() != want {
		t.Errorf("got the error %v; want %s", err, want)
	}
	for _, name := range []string{"none", "cut.dump", "cut.data", "cut.so", "."} {
		var out bytes.Buffer
		if err := showtest.File(&out, filepath.Join(dir, name), &show.Options{}); err == nil || errors.Is(err, show.ErrUnknown) || out.Len() > 0 {
			t.Errorf("%s: %v, and %d bytes of output", name, err, out.Len())
		}
	}
}
