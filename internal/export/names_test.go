package export

import (
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/profile"
)

func TestFunctionName_WithoutName(t *testing.T) {
	for _, c := range []struct{ name, object, want string }{
		{"f", "/lib/libc.so.6", "f"},
		{"[unknown]", "/lib/libc.so.6", "[libc.so.6]"},
		{"", "[vdso]", "[vdso]"},
		{"", "//anon", "[anon]"},
		{"[unknown]", "[unknown]", "[unknown]"},
		{"", "", "[unknown]"},
		{"a\xff\xfeb", "", "a\ufffdb"},
	} {
		if got := functionName(&profile.Function{Name: c.name, Object: c.object}); got != c.want {
			t.Errorf("%q of %q: got %q; want %q", c.name, c.object, got, c.want)
		}
	}
}

// perf prints [unknown] for code in no file: that is no mapping and no library.
func TestWrite_UnknownObjects(t *testing.T) {
	p := recorded()
	for i := range p.Functions {
		if i%2 == 0 {
			p.Functions[i].Object = "[unknown]"
		} else {
			p.Functions[i].Object = ""
		}
	}
	if read := parsePprof(t, p); len(read.Mapping) != 0 {
		t.Errorf("got mappings %v; want none", read.Mapping)
	}
	if file := readFirefox(t, p); len(file.Libs) != 0 || file.Threads[0].FuncTable.number("resource", 0) != -1 {
		t.Errorf("got libraries %v; want none", file.Libs)
	}
	if text := string(write(t, "speedscope", p)); strings.Contains(text, `"file":"[unknown]"`) {
		t.Errorf("got:\n%s\nwant no file [unknown]", text)
	}
}

func TestIsClock_Events(t *testing.T) {
	for event, want := range map[string]bool{"cpu-clock": true, "cpu-clock:u": true, "task-clock:ppp": true, "cycles": false, "cpu-cycles:u": false, "": false} {
		if got := isClock(event); got != want {
			t.Errorf("%q: got %t; want %t", event, got, want)
		}
	}
}

// perf prints the date in local time.
func TestRecordedAt_Dates(t *testing.T) {
	for date, known := range map[string]bool{"Thu Nov 26 12:00:00 2026": true, "Sun Nov  1 02:03:04 2026": true, "yesterday": false, "": false} {
		if got := recordedAt(&profile.Recording{Date: date}); (got > 0) != known {
			t.Errorf("%q: got %d; want a time: %t", date, got, known)
		}
	}
}
