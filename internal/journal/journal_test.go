package journal

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// begin begins a journal for a test, and opens a directory.
func begin(t *testing.T, size int) (buf []byte, path string, dir int) {
	t.Helper()
	path = t.TempDir()
	dir, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	buf = make([]byte, size)
	Begin(buf)
	t.Cleanup(func() {
		unix.Close(dir)
		current.Store(nil)
	})
	return buf, path, dir
}

// write makes a file and returns its inode number.
func write(t *testing.T, path string) uint64 {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Ino
}

func TestJournal_EveryKind(t *testing.T) {
	buf, path, dir := begin(t, 4096)
	entry := AddPartial(dir, ".out.0.partial", unix.S_IFREG)
	partial := write(t, filepath.Join(path, ".out.0.partial"))
	f, err := os.Open(filepath.Join(path, ".out.0.partial"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entry.Opened(int(f.Fd()))
	AddResult(dir, ".out.0.partial", "out")
	lock := AddLock(dir, ".lock.0.partial")
	if again := AddLock(dir, ".lock.0.partial"); again != lock {
		t.Errorf("got entry %v for the same lock; want %v", again, lock)
	}
	lock.Opened(int(f.Fd()))
	ObjectsIn(dir).Add("a.so").Made(7)
	ObjectsIn(dir).Add("there.so").Drop()
	ObjectsIn(dir).Add("b.so")
	source := write(t, filepath.Join(path, "source"))
	AddPath(filepath.Join(path, "source"))

	log := Read(buf)
	if log.Kept || log.Full {
		t.Errorf("got kept %v, full %v; want neither", log.Kept, log.Full)
	}
	for i := range log.Records {
		r := &log.Records[i]
		if real, err := filepath.EvalSymlinks(path); err != nil || r.Dir.Path != real {
			t.Errorf("got directory %s; want %s (%v)", r.Dir.Path, real, err)
		}
		r.Dir = nil
	}
	want := []Record{
		{Kind: Partial, Name: ".out.0.partial", Ino: partial, Type: unix.S_IFREG},
		{Kind: Result, Name: "out", Ino: partial},
		{Kind: Lock, Name: ".lock.0.partial", Ino: partial, Lock: int(f.Fd())},
		{Kind: Object, Ino: 7, Hash: Hash("a.so")},
		{Kind: Object, Hash: Hash("b.so")},
		{Kind: File, Name: "source", Ino: source},
	}
	if !slices.Equal(log.Records, want) {
		t.Errorf("got records\n%v; want\n%v", log.Records, want)
	}
	if Keep(); !Read(buf).Kept {
		t.Error("got a journal that is not kept; want one that is")
	}
}

// A crash may come at any moment: each beginning of the memory is a journal.
func TestJournal_CutAnywhere(t *testing.T) {
	buf, _, dir := begin(t, 4096)
	for range 3 {
		ObjectsIn(dir).Add("a.so").Made(7)
		AddPartial(dir, ".some-longer-name.0.partial", unix.S_IFREG)
	}
	all := Read(buf).Records
	used := order.Uint64(buf)
	for n := range used {
		cut := slices.Clone(buf)
		order.PutUint64(cut, n)
		if got := Read(cut).Records; len(got) > len(all) || !sameNames(got, all[:len(got)]) {
			t.Errorf("for %d bytes: got %v; want a beginning of %v", n, got, all)
		}
		if got := Read(buf[:n]).Records; len(got) > len(all) || !sameNames(got, all[:len(got)]) {
			t.Errorf("for memory of %d bytes: got %v; want a beginning of %v", n, got, all)
		}
	}
}

func sameNames(a, b []Record) bool {
	return slices.EqualFunc(a, b, func(x, y Record) bool { return x.Kind == y.Kind && x.Name == y.Name && x.Ino == y.Ino })
}

func TestJournal_Full(t *testing.T) {
	buf, _, dir := begin(t, 512)
	for range 100 {
		ObjectsIn(dir).Add("a.so").Made(7)
	}
	log := Read(buf)
	if n := len(log.Records); !log.Full || n < 5 || n > 512/recordSize {
		t.Errorf("got %d records, full: %v; want some, and true", n, log.Full)
	}
}

func TestJournal_NotBegun(t *testing.T) {
	ObjectsIn(-1).Add("a.so").Made(7)
	AddPartial(-1, "a", unix.S_IFREG).Opened(0)
	AddPath("/nonexistent/x")
	Keep()
	for _, buf := range [][]byte{nil, make([]byte, 5), make([]byte, 4096)} {
		if log := Read(buf); len(log.Records) > 0 {
			t.Errorf("got %v for %d zero bytes; want no records", log.Records, len(buf))
		}
	}
}

// A directory that was replaced is not opened.
func TestDir_Replaced(t *testing.T) {
	buf, path, _ := begin(t, 4096)
	sub := filepath.Join(path, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(sub, "file"))
	AddPath(filepath.Join(sub, "file"))
	dir := Read(buf).Records[0].Dir
	fd, err := dir.Open()
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	if err := os.Rename(sub, sub+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sub+".moved", sub); err != nil {
		t.Fatal(err)
	}
	if fd, err = dir.Open(); err != nil {
		t.Errorf("got %v for a link to the same directory; want it opened", err)
	}
	unix.Close(fd)
	if err := os.Remove(sub); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	if fd, err := dir.Open(); err == nil {
		unix.Close(fd)
		t.Error("got another directory opened; want an error")
	}
}
