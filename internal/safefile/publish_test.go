package safefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A noLinks is a file system without hard links, on which another program takes a name at the worst
// moment.
type noLinks struct {
	t      *testing.T
	victim string
	plain  bool // it cannot rename to new names only, either
}

func (n *noLinks) Before(c *sys.Call) error {
	switch {
	case c.Name == "linkat":
		if err := os.WriteFile(n.victim, []byte("of another program"), 0o600); err != nil {
			n.t.Error(err)
		}
		return unix.EPERM
	case c.Name == "renameat2" && n.plain:
		return unix.EINVAL
	}
	return nil
}

func (n *noLinks) After(*sys.Call, int, error) {}

// An earlier result that cannot be linked is renamed, and must not replace a file.
func TestPublish_SideNameTaken(t *testing.T) {
	for _, plain := range []bool{false, true} {
		path := t.TempDir()
		out, victim := filepath.Join(path, "out"), filepath.Join(path, sideName("out", "0"))
		if err := os.WriteFile(out, []byte("an earlier result"), 0o600); err != nil {
			t.Fatal(err)
		}
		dir, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		f, p, err := CreateResult(dir, "out", 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		restore := sys.Use(&noLinks{t, victim, plain})
		published, err := p.Publish("out", true)
		restore()
		if published || !errors.Is(err, unix.EEXIST) {
			t.Errorf("got %v, %v; want %v", published, err, unix.EEXIST)
		}
		for name, want := range map[string]string{out: "an earlier result", victim: "of another program"} {
			if b, err := os.ReadFile(name); err != nil || string(b) != want {
				t.Errorf("%s: got %q, %v; want %q", name, b, err, want)
			}
		}
		p.Remove()
		unix.Close(dir)
	}
}
