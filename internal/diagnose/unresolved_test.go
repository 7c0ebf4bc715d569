package diagnose

import (
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/count"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// A madeDump is a dump with one function.
type madeDump struct {
	source.Dump
	traits source.Traits
}

func (d *madeDump) Traits() source.Traits { return d.traits }

func (d *madeDump) Scanned() *source.Listing {
	return &source.Listing{Events: []jitcode.Event{{Addr: 0x1000, Size: 16}}}
}

// Code that a process has registered for debuggers may be removed before its memory is read. Its dump is
// no other run's, and no file that verify can check.
func TestUnresolved_RegisteredCodeRemoved(t *testing.T) {
	for _, c := range []struct {
		registered bool
		samples    int64
		want       string // a part of the problem; "" for none
	}{
		{true, 1, "process 7 has 1 sample in JIT memory, and none in a function that it had registered"},
		{true, 69, "it had removed that code, or never registered it; read the memory, or make a core dump (gcore PID), while the code is in use"},
		{true, 0, ""},
		{false, 1, ""},
		{false, 69, "it may be another run's dump; for the likely cause: jitinject verify"},
	} {
		d := &model.Dump{PID: 7, Path: "/proc/7/mem", Source: &madeDump{traits: source.Traits{Registered: c.registered}}, Clock: func(t uint64) uint64 { return t }}
		lines := []report.DumpSummary{{Cut: -1, Samples: &report.JitSamples{InJIT: c.samples}}}
		found := Unresolved(&recording.Recording{In: &recording.Input{}}, []*model.Dump{d}, lines, &count.Counter{}, "perf.data")
		var text string
		for _, p := range found.Problems {
			text += p.String()
		}
		if (c.want == "") != (text == "") || !strings.Contains(text, c.want) || c.registered && strings.Contains(text, "verify") {
			t.Errorf("got %q for %+v; want %q", text, c, c.want)
		}
	}
}
