package objstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/journal"
	"github.com/jitinject/jitinject/internal/safefile"
)

// A crashedRun has made some files. Its process is this one, so it has to close its descriptors, as
// the kernel does for a process that has crashed.
type crashedRun struct {
	t     *testing.T
	buf   []byte
	dir   string // with the result and the objects
	store *Store
}

func newCrashedRun(t *testing.T) *crashedRun {
	t.Helper()
	r := &crashedRun{t: t, buf: make([]byte, 64<<10), dir: t.TempDir()}
	r.put("out", "earlier result")
	r.put("jitted-1-9.so", "earlier object")
	journal.Begin(r.buf)
	t.Cleanup(func() { journal.Begin(make([]byte, 64<<10)) })
	r.store = r.open()
	return r
}

func (r *crashedRun) open() *Store {
	r.t.Helper()
	s, err := openStore(context.Background(), filepath.Join(r.dir, "made", "objects"), true)
	r.must(err)
	return s
}

func (r *crashedRun) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *crashedRun) put(name, content string) {
	r.t.Helper()
	r.must(os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o600))
}

// object makes an object.
func (r *crashedRun) object(s *Store, name string) {
	r.t.Helper()
	_, _, _, err := s.Put(name, []byte("object of "+s.path), nil, 0o600)
	r.must(err)
}

// result begins a result.
func (r *crashedRun) result() *safefile.Partial {
	r.t.Helper()
	dir, err := unix.Open(r.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	r.must(err)
	f, p, err := safefile.Create(dir, "out", 0o600)
	r.must(err)
	journal.AddResult(dir, p.Name, "out")
	r.must(f.Close())
	return p
}

// crash closes the lock without removing it.
func (s *Store) crash() {
	unix.Close(s.lock.fd)
	unix.Close(s.fd)
}

// wants wants files to be left, relative to the directory.
func (r *crashedRun) wants(names ...string) {
	r.t.Helper()
	var got []string
	r.must(filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		if name, _ := filepath.Rel(r.dir, path); err == nil && name != "." {
			got = append(got, name)
		}
		return err
	}))
	if !slices.Equal(got, names) {
		r.t.Errorf("got files %v; want %v", got, names)
	}
}

func TestRecover_CrashedWithoutResult(t *testing.T) {
	r := newCrashedRun(t)
	r.result()
	r.object(r.store, "jitted-1-1.so")
	r.object(r.store, "jitted-1-2.so")
	_, err := r.store.Draft("jitbundle-1-0", 0o600)
	r.must(err)
	r.store.crash()
	if got := Recover(journal.Read(r.buf), false); got != (Recovered{}) {
		t.Errorf("got %+v; want no result and nothing left", got)
	}
	r.wants("jitted-1-9.so", "out")
}

// A run that crashes before it has recorded the inode of an object leaves a part of it.
func TestRecover_CrashedInsideObject(t *testing.T) {
	r := newCrashedRun(t)
	r.object(r.store, "jitted-1-1.so")
	// One that was there before the run began is older than the lock.
	r.put("made/objects/jitted-1-3.so", "earlier object")
	r.store.created.Add("jitted-1-2.so")
	r.store.created.Add("jitted-1-3.so")
	r.put("made/objects/jitted-1-2.so", "half an ob")
	r.put("made/objects/jitted-1-4.so", "object of somebody else")
	var st unix.Stat_t
	r.must(unix.Stat(filepath.Join(r.dir, "made/objects/jitted-1-2.so"), &st))
	older := []unix.Timespec{st.Mtim, {Sec: st.Ctim.Sec - 3600}}
	r.must(unix.UtimesNanoAt(r.store.fd, r.store.lock.name, older, 0))
	r.store.crash()
	Recover(journal.Read(r.buf), false)
	r.wants("jitted-1-9.so", "made", "made/objects", "made/objects/jitted-1-4.so", "out")
}

func TestRecover_FileOlderThanLock(t *testing.T) {
	r := newCrashedRun(t)
	r.put("made/objects/jitted-1-3.so", "earlier object")
	r.store.created.Add("jitted-1-3.so")
	var st unix.Stat_t
	r.must(unix.Stat(filepath.Join(r.dir, "made/objects/jitted-1-3.so"), &st))
	r.must(unix.UtimesNanoAt(r.store.fd, r.store.lock.name, []unix.Timespec{st.Mtim, {Sec: st.Ctim.Sec + 1}}, 0))
	r.store.crash()
	Recover(journal.Read(r.buf), false)
	r.wants("jitted-1-9.so", "made", "made/objects", "made/objects/jitted-1-3.so", "out")
}

func TestRecover_CrashedAfterResult(t *testing.T) {
	r := newCrashedRun(t)
	p := r.result()
	r.object(r.store, "jitted-1-1.so")
	r.must(p.Rename("out"))
	r.store.crash()
	if got := Recover(journal.Read(r.buf), false); got != (Recovered{Complete: true}) {
		t.Errorf("got %+v; want a result and nothing else left", got)
	}
	r.wants("jitted-1-9.so", "made", "made/objects", "made/objects/jitted-1-1.so", "out")
}

// Nothing is renamed where the result goes into a pipe. What was written there needs its objects, also
// if it is not complete.
func TestRecover_Kept(t *testing.T) {
	for _, done := range []bool{false, true} {
		r := newCrashedRun(t)
		r.object(r.store, "jitted-1-1.so")
		journal.Keep()
		if done {
			journal.Done()
		}
		r.store.crash()
		if got := Recover(journal.Read(r.buf), false); got != (Recovered{Complete: done}) {
			t.Errorf("got %+v; want a result: %v, and nothing else left", got, done)
		}
		r.wants("jitted-1-9.so", "made", "made/objects", "made/objects/jitted-1-1.so", "out")
	}
}

// Another run may rely on the objects.
func TestRecover_BesideOtherRun(t *testing.T) {
	for name, other := range map[string]func(r *crashedRun) func(){
		"goes on": func(r *crashedRun) func() {
			s := r.open()
			return s.Close
		},
		"has succeeded": func(r *crashedRun) func() {
			s := r.open()
			s.mark()
			s.crash()
			return func() {}
		},
		"has succeeded and removed the lock": func(r *crashedRun) func() {
			s := r.open()
			r.store.crash()
			r.store.fd, r.store.lock.fd = -1, -1
			s.mark()
			s.Close()
			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newCrashedRun(t)
			r.object(r.store, "jitted-1-1.so")
			log := journal.Read(r.buf)
			journal.Begin(make([]byte, 64<<10)) // the other run is another process
			end := other(r)
			r.store.crash()
			if got := Recover(log, false); got.Complete || got.Unknown || !strings.Contains(got.Left, "the 1 objects that were made stay in ") {
				t.Errorf("got %+v; want no result, and that an object stays", got)
			}
			end()
			r.wants("jitted-1-9.so", "made", "made/objects", "made/objects/jitted-1-1.so", "out")
		})
	}
}

// A run that is abandoned by its own process has the lock.
func TestRecover_OwnRun(t *testing.T) {
	r := newCrashedRun(t)
	r.result()
	r.object(r.store, "jitted-1-1.so")
	if got := Recover(journal.Read(r.buf), true); got != (Recovered{}) {
		t.Errorf("got %+v; want no result and nothing left", got)
	}
	r.wants("jitted-1-9.so", "out")
}

func TestRecover_DirectoryReplaced(t *testing.T) {
	r := newCrashedRun(t)
	r.object(r.store, "jitted-1-1.so")
	r.store.crash()
	r.must(os.Rename(filepath.Join(r.dir, "made"), filepath.Join(r.dir, "moved")))
	r.must(os.MkdirAll(filepath.Join(r.dir, "made/objects"), 0o700))
	r.put("made/objects/jitted-1-1.so", "object of somebody else")
	Recover(journal.Read(r.buf), false)
	if b, err := os.ReadFile(filepath.Join(r.dir, "made/objects/jitted-1-1.so")); string(b) != "object of somebody else" {
		t.Errorf("got %q, %v; want the file of somebody else", b, err)
	}
}
