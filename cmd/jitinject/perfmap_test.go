package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A process with an unusable dump has the names of its map. Exit code and text say what is missing.
func TestInject_MapInsteadOfDump(t *testing.T) {
	const pid = 777_000_020
	for _, c := range []struct {
		name, dump string // "" for none
		code       int
		want       []string
	}{
		{"missing", "", exitIncomplete, []string{
			fmt.Sprintf("jitinject: process %d: its dump ", pid), " is gone: neither there nor in the current directory; if you have it, name its directory with --dump-dir",
			fmt.Sprintf("100 %%  perf-%d.map", pid)}},
		{"no jitdump", strings.Repeat("x", 64), exitIncomplete, []string{
			fmt.Sprintf("jitinject: process %d: cannot use its dump ", pid), fmt.Sprintf("100 %%  perf-%d.map", pid)}},
	} {
		dir := t.TempDir()
		t.Chdir(dir)
		path := filepath.Join(dir, fmt.Sprintf("jit-%d.dump", pid))
		r := testrec.NewRecording()
		r.Machine = "x86_64"
		r.Comm(pid, 900, "prog", true)
		r.Marker(pid, 1000, path)
		r.Mmap2(pid, 1100, 0x7f1200000000, 0x10000, 0, "//anon")
		r.Sample(pid, 2000, 0x7f1200000010)
		r.Write(t, "perf.data")
		files := map[string]string{fmt.Sprintf("perf-%d.map", pid): "7f1200000000 40 function\n"}
		if c.dump != "" {
			files[path] = c.dump
		}
		for name, content := range files {
			if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code, _, stderr := command(t, dir, "-i", "perf.data", "-o", "out.data")
		if code != c.code {
			t.Errorf("%s: got exit code %d; want %d", c.name, code, c.code)
		}
		for _, want := range c.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: got %s; want %q", c.name, stderr, want)
			}
		}
		if code, _, _ := command(t, dir, "--strict", "-i", "perf.data", "-o", "strict.data"); code != exitFailed {
			t.Errorf("%s, --strict: got exit code %d; want %d", c.name, code, exitFailed)
		}
	}
}

// A recording may name thousands of dumps that are gone. The first few are named.
func TestInject_ManyMissingDumps(t *testing.T) {
	dir := t.TempDir()
	r := testrec.NewRecording()
	for pid := uint32(777_000_100); pid < 777_000_125; pid++ {
		r.Comm(pid, 900, "prog", true)
		r.Marker(pid, 1000, filepath.Join(dir, fmt.Sprintf("jit-%d.dump", pid)))
	}
	r.Write(t, filepath.Join(dir, "perf.data"))
	code, _, stderr := command(t, dir, "-q", "-i", filepath.Join(dir, "perf.data"), "-o", filepath.Join(dir, "out.data"))
	if n := strings.Count(stderr, " is gone: neither there"); n != 10 || !strings.Contains(stderr, "15 more dumps are gone; if you have") || code != exitFailed {
		t.Errorf("got exit code %d, %d dumps named in\n%s; want 10, and that 15 more are gone", code, n, stderr)
	}
}
