package engine_test

import (
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
)

// A jitdump may be named with its kind or without. What no stage would look at is refused, and not
// ignored.
func TestSideFiles_KindChecked(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.Sample(100, 3000, 0x10010)
	w.dump("elsewhere", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	files := []config.SideFile{{Kind: formats.Jitdump, PID: 100, Path: w.path("elsewhere")}}
	w.opts.SideFiles = files
	if sum, err := w.run(); err != nil || len(sum.Dumps) != 1 || sum.Dumps[0].Functions != 1 {
		t.Errorf("got %+v, %v; want one dump with one function", sum, err)
	}
	if files[0].Kind != formats.Jitdump {
		t.Errorf("got kind %q in the caller's list, want it unchanged", files[0].Kind)
	}
	for kind, want := range map[string]string{
		formats.Jitdump: "PID: 0", "": "there is no process 0",
		formats.Core: "no side files of that kind", "mono": "no side files of that kind",
	} {
		w.opts.SideFiles = []config.SideFile{{Kind: kind, Path: w.path("elsewhere")}}
		if _, err := w.run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("for kind %q: got error %v, want one with %q", kind, err, want)
		}
	}
}
