package safefile

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Partial files are removed, and files with their final names stay. A file that is being renamed gets its
// name first.
func TestRemovePartials_WaitsForHolders(t *testing.T) {
	path := t.TempDir()
	dir, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	made := make(map[string]*Partial)
	for _, name := range []string{"half", "named", "removed", "late"} {
		f, p, err := Create(dir, name, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		made[name] = p
	}
	half, err := CreateDir(dir, "directory")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, half.Name, "data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := made["named"].Rename("named"); err != nil {
		t.Fatal(err)
	}
	if err := made["removed"].Remove(); err != nil {
		t.Fatal(err)
	}
	release, removed := Hold(), make(chan bool)
	go func() {
		RemovePartials()
		close(removed)
	}()
	if published, err := made["late"].Publish("late", true); !published || err != nil {
		t.Errorf("got published %v, %v; want true while it is held", published, err)
	}
	release()
	<-removed
	partials.Unlock() // a process would exit
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) != 2 || names[0] != "late" || names[1] != "named" {
		t.Errorf("got %v; want late and named", names)
	}
}

// A partial file of another name may begin in the same way.
func TestRemoveLeft_OnlyThatName(t *testing.T) {
	path := t.TempDir()
	goes := []string{".out.data.0.partial", ".out.data.15.partial", ".out.data.0123456789abcdef.partial"}
	stays := []string{".out.data.old.e0.partial", ".out.data.e0.partial", ".out.data.x.partial", ".out.data..partial", ".out.data.123.partial", ".other.0.partial", "out.data.0.partial"}
	for _, name := range append(goes, stays...) {
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	if err := RemoveLeft(dir, "out.data"); err != nil {
		t.Errorf("unexpected error: %v", err)
	}
	for _, name := range goes {
		if _, err := os.Lstat(filepath.Join(path, name)); err == nil {
			t.Errorf("got %s left; want it removed", name)
		}
	}
	for _, name := range stays {
		if _, err := os.Lstat(filepath.Join(path, name)); err != nil {
			t.Errorf("got %v; want %s left", err, name)
		}
	}
}
