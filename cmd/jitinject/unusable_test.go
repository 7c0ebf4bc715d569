package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A file that is no use as it is has a message that says why, however it is named.
func TestCommand_CompressedOrEmptyFile(t *testing.T) {
	dir := t.TempDir()
	r := testrec.NewRecording()
	r.Comm(100, 900, "prog", true)
	r.Sample(100, 2000, 0x1000)
	r.Write(t, filepath.Join(dir, "perf.data"))
	for name, content := range map[string]string{"core.gz": "\x1f\x8b\x08\x00 of a core", "core.zst": "\x28\xb5\x2f\xfd of a core", "core.xz": "\xfd7zXZ\x00 of a core", "short": "\x1f", "empty.map": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"core.gz":             {exitUsage, "core.gz is compressed; unpack it with gzip -d"},
		"core.zst":            {exitUsage, "core.zst is compressed; unpack it with zstd -d"},
		"core.xz":             {exitUsage, "core.xz is compressed; unpack it with xz -d"},
		"short":               {exitUsage, "short has an unknown type"},
		"fifo":                {exitUsage, "fifo is a FIFO; to read a recording from it: jitinject -i fifo"},
		"--code-from core.gz": {exitFailed, "core.gz: it is compressed; unpack it with gzip -d"},
		"empty.map":           {exitUsage, "empty.map is empty"},
		"--map empty.map":     {exitFailed, "empty.map: it is empty"},
		"verify empty.map":    {exitFailed, "empty.map: it is empty"},
		"dump empty.map":      {exitFailed, "it is empty"},
	} {
		code, _, stderr := command(t, dir, strings.Fields(args)...)
		if code != want.code || !strings.Contains(stderr, want.text) {
			t.Errorf("%s: got exit code %d, %q; want %d, %q", args, code, stderr, want.code, want.text)
		}
	}
}
