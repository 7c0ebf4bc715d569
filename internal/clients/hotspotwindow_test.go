package clients

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/screen"
	"github.com/jitinject/jitinject/internal/testrec"
)

// windowTimeout bounds the time until hotspot shows a recording.
const windowTimeout = 5 * time.Minute

// hotspot's window shows names and inlined calls of both layouts. It opens on a
// screen in memory, which takes half a minute for each.
func TestHotspot_Window(t *testing.T) {
	if os.Getenv("JITINJECT_ALL") == "" {
		testrec.Skip(t, "hotspot's window is opened by make interop (JITINJECT_ALL=1)")
	}
	for _, tool := range append(screen.Tools(), "hotspot") {
		testrec.Tool(t, tool)
	}
	// Calls that toyjit inlined, outermost function first: see testdata/toyjit/main.toy.
	const inlined = "deep;step;clamp"
	for _, bundle := range []bool{false, true} {
		if shown := windowStacks(t, "toyjit-dwarf", bundle); !strings.Contains(shown, inlined) {
			t.Errorf("bundle=%v: got stacks without %s:\n%s", bundle, inlined, shown)
		}
	}
}

// windowStacks opens a result in hotspot's window, and returns the stacks that it exports. Its flame graph
// must show them.
func windowStacks(t *testing.T, recording string, bundle bool) string {
	t.Helper()
	r := injected(t, recording, inject.Options{Bundle: bundle})
	s, err := screen.Start(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h, err := s.OpenHotspot(windowTimeout, r.dir, "out.data")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.ShowFlameGraph(); err != nil {
		t.Fatal(err)
	}
	file, err := s.PNG()
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("JITINJECT_SCREENS"); dir != "" {
		if err := os.WriteFile(fmt.Sprintf("%s/%s-%v.png", dir, recording, bundle), file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if n := flames(picture); n < 10_000 {
		t.Errorf("bundle=%v: got a flame graph of %d coloured pixels; want 10,000", bundle, n)
	}
	return h.Stacks
}

// flames counts the pixels of a picture that have the colours of a flame graph: more red than blue.
func flames(m image.Image) (n int) {
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			if r, _, b, _ := m.At(x, y).RGBA(); r > b+0x1800 {
				n++
			}
		}
	}
	return n
}
