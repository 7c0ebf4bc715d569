package showgdbjit_test

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
			`descriptor addr=0x7f0e724dbb50 version=1 action_flag=1(register) relevant_entry=0x2dd1a5a0 first_entry=0x2dd1a5a0 filename=/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1 found="by its dynamic symbol" entries=1`,
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
