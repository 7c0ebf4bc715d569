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

// A lateOther is another run that puts its result into the place a moment before the renaming.
type lateOther struct {
	t    *testing.T
	path string
}

func (o *lateOther) Before(c *sys.Call) error {
	if c.Name == "renameat2" && o.path != "" {
		if err := os.WriteFile(o.path, []byte("of another run"), 0o600); err != nil {
			o.t.Error(err)
		}
		o.path = ""
	}
	return nil
}

func (o *lateOther) After(*sys.Call, int, error) {}

// Two runs with one output begin when there is no earlier result.
func TestPublish_OtherRunIsFirst(t *testing.T) {
	path := t.TempDir()
	dir, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	f, p, err := CreateResult(dir, "out", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("of this run")); err != nil {
		t.Fatal(err)
	}
	f.Close()
	restore := sys.Use(&lateOther{t, filepath.Join(path, "out")})
	published, err := p.Publish("out", true)
	restore()
	if !published || err != nil {
		t.Errorf("got %v, %v; want the result in its place", published, err)
	}
	for name, want := range map[string]string{"out": "of this run", "out.old": "of another run"} {
		if b, err := os.ReadFile(filepath.Join(path, name)); err != nil || string(b) != want {
			t.Errorf("%s: got %q, %v; want %q", name, b, err, want)
		}
	}
}
