package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
)

// When AppDomains are unloaded, Mono tells of code that is none: nothing of the heap gets
// the name of a method. Where the recording does not know all memory, nothing is left out.
func TestMono_UnloadedAppDomains(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(w *world, methods []jitted) []jitted
		strays bool
	}{
		{"known", func(_ *world, methods []jitted) []jitted { return methods }, true},
		{"lost records", func(w *world, methods []jitted) []jitted { w.Raw(2, 0, make([]byte, 32)); return methods }, false},
		{"unknown memory", func(_ *world, methods []jitted) []jitted {
			for i := range uint64(10) {
				methods = append(methods, jitted{monoStart + 400 + i, 50 + i, 0x40010000 + 64*i, 64, "App:Elsewhere ()"})
			}
			return methods
		}, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := newWorld(t)
			w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
			var methods []jitted
			for i := range uint64(20) {
				methods = append(methods, jitted{monoStart + 200 + i, i, 0x40000000 + 64*i, 64, fmt.Sprintf("App:F%d ()", i)})
			}
			methods = append(methods,
				jitted{monoStart + 300, 30, 0x1, 0x55e1, "App:Freed1 ()"},
				jitted{monoStart + 301, 31, 0x59, 0x7f65, "App:Freed2 ()"},
				jitted{monoStart + 302, 32, 0xffffffff0000000f, 0x55e1, "App:Freed3 ()"},
				jitted{monoStart + 303, 33, 0x40020000, 0x100, "App:Freed4 ()"},  // near code, but no code
				jitted{monoStart + 304, 34, 0x4000ff00, 0x5000, "App:Freed5 ()"}) // not all of it
			put(t, w.path("app.mlpd"), monoLog(t, 17, 100, monoStart, x.change(w, methods)...))
			w.opts.SideFiles = []config.SideFile{{Kind: formats.Mono, PID: 100, Path: w.path("app.mlpd")}}
			w.expect(100, monoStart+500, 0x40000050, "App:F1 ()+0x10")
			w.expect(100, monoStart+501, 0xffffffff00000010, "")
			w.expect(100, monoStart+502, 0x60, "")
			want := map[bool]string{true: "", false: "App:Freed4 ()+0x10"}[x.strays]
			w.expect(100, monoStart+503, 0x40020010, want)
			sum := w.check()
			want = fmt.Sprintf("it has wrong addresses of %d methods", map[bool]int{true: 5, false: 3}[x.strays])
			if !strings.Contains(strings.Join(sum.Notes, "\n"), want) {
				t.Errorf("notes %q, want %q", sum.Notes, want)
			}
		})
	}
}
