package safefile

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A directory that a killed run has left is taken away where another is to be made, but
// only if it is that.
func TestDirectory_LeftByKilledRun(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		goes  bool
	}{
		{"nothing in it", nil, true},
		{"just begun", map[string]string{"data": ""}, true},
		{"without a header", map[string]string{"data": "\x00\x00\x00\x00\x00\x00\x00\x00\x00", "data.0": "x"}, true},
		{"a recording", map[string]string{"data": "PERFILE2...", "data.0": "x", "kcore_dir/kcore": "x"}, true},
		{"data of something else", map[string]string{"data": "precious"}, false},
		{"something else, too", map[string]string{"data": "PERFILE2", "notes": "x"}, false},
		{"a directory, too", map[string]string{"data": "PERFILE2", "data.0/x": "x"}, false},
		{"no data", map[string]string{"data.0": "x"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			stale := filepath.Join(dir, ".out.0.partial")
			if err := os.Mkdir(stale, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, content := range test.files {
				path := filepath.Join(stale, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			p, err := CreateDir(fd, "out")
			if err != nil {
				t.Fatal(err)
			}
			defer p.release()
			if goes := p.Name == ".out.0.partial"; goes != test.goes {
				t.Errorf("the new one is %s", p.Name)
			}
			for name, content := range test.files {
				if b, err := os.ReadFile(filepath.Join(stale, name)); !test.goes && string(b) != content {
					t.Errorf("%s: got %q, %v; want %q", name, b, err, content)
				}
			}
		})
	}
}
