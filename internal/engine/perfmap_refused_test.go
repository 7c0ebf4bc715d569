package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
)

// With Strict, the error names a map that was refused.
func TestPerfMap_RefusedWithStrict(t *testing.T) {
	w := newMapWorld(t)
	w.mapped(mapPID, "7f5500000000 40 other")
	w.jitting(mapPID, "prog", "/usr/bin/prog", 30)
	w.opts.Strict = true
	path := w.path(fmt.Sprintf("perf-%d.map", mapPID))
	if _, err := w.run(); !errors.Is(err, report.ErrStrict) || !strings.Contains(err.Error(), path+" is not used: none of its functions lies where") {
		t.Errorf("got %v; want an error with %s and the reason", err, path)
	}
}

// A named map of no process is of another run, and naming its process would not help.
func TestPerfMap_NamedUnusable(t *testing.T) {
	for _, c := range []struct{ name, content, want, not string }{
		{"another run", "7f5500000000 40 other\n", "name the one that the recorded run wrote", "name its process"},
		{"empty", "", "it is empty", "it is no perf map"},
	} {
		w := newMapWorld(t)
		w.mapped(mapPID+1, "7f1200000000 40 function")
		w.expect(mapPID+1, 2000, 0x7f1200000010, "function+0x10")
		put(t, w.path("another.map"), []byte(c.content))
		w.opts.SideFiles = []config.SideFile{{Kind: formats.PerfMap, Path: w.path("another.map")}}
		sum, err := w.run()
		if got := asJSON(sum) + fmt.Sprint(err); !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%s: got %s; want %q, without %q", c.name, got, c.want, c.not)
		}
	}
}
