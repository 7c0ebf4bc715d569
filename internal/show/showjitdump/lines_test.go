package showjitdump_test

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Of tables with overwritten file names, as V8 14 and V8 10, which repeats names, wrote them, all
// entries are shown, with addresses, lines and columns of the function.
func TestDebugInfo_OverwrittenNames(t *testing.T) {
	for path, want := range map[string]int{
		"../../runtime/v8/testdata/node25.dump":                     3,
		filepath.Join(testrec.Unpack(t, "v8-lines"), "node18.dump"): 20,
	} {
		tables := 0
		for line := range strings.Lines(showtest.Whole(t, path, show.Options{JSON: true})) {
			var r struct {
				Names    string
				CodeAddr string `json:"code_addr"`
				NrEntry  int    `json:"nr_entry"`
				Entries  []struct {
					Addr         string
					Line, Column int
				}
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil && strings.Contains(line, "JIT_CODE_DEBUG_INFO") {
				t.Fatal(err)
			}
			if r.Names != "overwritten" {
				continue
			}
			tables++
			last, err := strconv.ParseUint(r.CodeAddr, 0, 64)
			if len(r.Entries) != r.NrEntry || err != nil {
				t.Errorf("%s: got %d entries, %v; want %d", path, len(r.Entries), err, r.NrEntry)
			}
			for _, e := range r.Entries {
				addr, err := strconv.ParseUint(e.Addr, 0, 64)
				if err != nil || addr < last || addr-last > 1<<16 || e.Line < 1 || e.Line > 200 || e.Column < 1 || e.Column > 200 {
					t.Errorf("%s: got the entry %+v, %v; want one in the function, after %#x", path, e, err, last)
				}
				last = addr
			}
		}
		if tables != want {
			t.Errorf("%s: got %d tables; want %d", path, tables, want)
		}
	}
}
