package clients

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// hotspot's window shows names and inlined calls of both layouts. It opens on a
// screen in memory, which takes half a minute for each.
func TestHotspot_Window(t *testing.T) {
	if os.Getenv("JITINJECT_ALL") == "" {
		testrec.Skip(t, "hotspot's window is opened by make interop (JITINJECT_ALL=1)")
	}
	for _, tool := range []string{"xvfb-run", "xdotool", "import", "hotspot"} {
		testrec.Tool(t, tool)
	}
	script, err := filepath.Abs("testdata/hotspot.sh")
	if err != nil {
		t.Fatal(err)
	}
	// Calls that toyjit inlined, outermost function first: see testdata/toyjit/main.toy.
	const inlined = "deep;step;clamp"
	for _, bundle := range []bool{false, true} {
		dir := injected(t, "toyjit-dwarf", inject.Options{Bundle: bundle}).dir
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		// Without -noreset, Xvfb starts again after each program that was alone on it.
		cmd := exec.CommandContext(ctx, "xvfb-run", "--auto-servernum", "--server-args=-screen 0 1200x700x24 -noreset", "sh", script, "out.data")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "QT_QPA_PLATFORM=xcb", "LC_ALL=C.UTF-8", "DEBUGINFOD_URLS=")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("bundle=%v: unexpected error: %v\n%s", bundle, err, out)
		}
		if shown, err := os.ReadFile(filepath.Join(dir, "stacks.txt")); err != nil || !strings.Contains(string(shown), inlined) {
			t.Errorf("bundle=%v: got %v, stacks without %s:\n%s", bundle, err, inlined, shown)
		}
		file, err := os.ReadFile(filepath.Join(dir, "flames.png"))
		if err != nil {
			t.Fatal(err)
		}
		if keep := os.Getenv("JITINJECT_SCREENS"); keep != "" {
			if err := os.WriteFile(fmt.Sprintf("%s/toyjit-dwarf-%v.png", keep, bundle), file, 0o644); err != nil {
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
	}
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
