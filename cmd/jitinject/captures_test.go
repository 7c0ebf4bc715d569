package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// captureDir has two captures, one of them with its code.
func captureDir(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, vector := range map[string]string{"a.bin": "plain-216.bin", "a.json": "plain-216.json", "b.bin": "inline-216.bin"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "internal", "format", "j9meta", "testdata", vector))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), string(b))
	}
	b, err := os.ReadFile(filepath.Join("..", "..", "internal", "format", "j9meta", "testdata", "inline-216.json"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimRight(string(b), " \n")
	writeFile(t, filepath.Join(dir, "b.json"), strings.TrimSuffix(text, "}")+`, "code": "b.code"}`)
	writeFile(t, filepath.Join(dir, "b.code"), strings.Repeat("\x90", 300))
	return dir
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A capture is shown by the name of either of its files; a directory is not shown.
func TestCaptures_ByEitherFile(t *testing.T) {
	dir := captureDir(t)
	for _, ext := range []string{"bin", "json"} {
		files, err := filepath.Glob(filepath.Join(dir, "*."+ext))
		if err != nil || len(files) != 2 {
			t.Fatalf("got %+v, %v; want no error, 2 files", files, err)
		}
		code, stdout, stderr := dumped(t, append(files, "--json", "--records", "J9JITExceptionTable")...)
		if code != exitOK || stderr != "" || strings.Count(stdout, `"type":"file"`) != 2 {
			t.Errorf("dump %q: exit code %d\n%s%s", files, code, stdout, stderr)
		}
	}
	if code, stdout, stderr := dumped(t, dir); code != exitFailed || stdout != "" || !strings.Contains(stderr, "it is a directory; name files in it") {
		t.Errorf("a directory: exit code %d\n%s%s", code, stdout, stderr)
	}
	// Only OpenJ9 could mend them.
	if code, stdout, stderr := verifyCommand(t, dir, dir); code != exitOK || stdout != "" || strings.Count(stderr, "a capture of OpenJ9's metadata, which is not checked") != 1 {
		t.Errorf("verify: got exit code %d\n%s%s\nwant 0, one note", code, stdout, stderr)
	}
}
