package showelf_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Objects that a process registered for debuggers are shown with their functions.
func TestCore_RegisteredObjects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lli.core")
	if err := os.WriteFile(path, testrec.Gunzip(t, "../../runtime/gdbjit/testdata/lli.core.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		opts show.Options
		want []string
		not  string
	}{
		{show.Options{Filter: show.Filter{Types: []string{"descriptor", "entry"}}}, []string{
			`descriptor addr=0x7f0e724dbb50 filename=/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1 found="by its dynamic symbol" version=1 action_flag=1(register) relevant_entry=0x2dd1a5a0 first_entry=0x2dd1a5a0 entries=1`,
			"entry addr=0x2dd1a5a0 next_entry=0x0 prev_entry=0x0 symfile_addr=0x2dcceb70 symfile_size=5480",
		}, "function"},
		{show.Options{Filter: show.Filter{Names: []show.Name{{Part: "second"}}}}, []string{
			"function addr=0x7f0e7261c1c0 symbol_size=91 name=second symfile_addr=0x2dcceb70 unwind_tables=1",
			"sq called at /tmp/lli/inlined.c:4:101 ranges=[0x28-0x38]",
			"0x7f0e7261c1f0  /tmp/lli/inlined.c:2:38",
		}, "name=first"},
		{show.Options{Disassemble: true, Filter: show.Filter{Types: []string{"function"}}}, []string{"name=main", "ret"}, "descriptor"},
	} {
		var out bytes.Buffer
		if err := showtest.File(&out, path, &c.opts); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("got\n%swant %s", &out, want)
			}
		}
		if strings.Contains(out.String(), c.not) {
			t.Errorf("got\n%swant no %s", &out, c.not)
		}
	}
}

func TestCore(t *testing.T) {
	path := filepath.Join("..", "..", "elfcore", "testdata", "kernel-i386.core")
	shown := func(opts show.Options) string {
		t.Helper()
		var out bytes.Buffer
		if err := showtest.File(&out, path, &opts); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	all := shown(show.Options{})
	for _, want := range []string{
		`format="core dump" class=32-bit order=little-endian machine=3(i386) pid=20739 parent=20737 command=i386 args=./i386`,
		"thread tid=20739 pc=0x4010ee sp=0xffdfa7f0 thread_pointer=0x0 signal=11",
		"addr=0x401000 len=4096 flags=read|execute",
		"filename=/srv/build/x/i386",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no %s in\n%s", want, all)
		}
	}
	some := shown(show.Options{Filter: show.Filter{Types: []string{"thread"}}})
	if strings.Contains(some, "mapping addr") || !strings.Contains(some, "thread tid") {
		t.Errorf("threads alone are\n%s", some)
	}
	one := shown(show.Options{Filter: show.Filter{Address: show.Range{Set: true, First: 0x401000, Last: 0x401000}, Types: []string{"memory"}}})
	if strings.Count(one, " memory ") != 1 {
		t.Errorf("memory at an address is\n%s", one)
	}
	if json := shown(show.Options{JSON: true}); !strings.Contains(json, `{"type":"thread","tid":20739,"pc":"0x4010ee"`) {
		t.Errorf("as JSON it is\n%s", json)
	}
}
