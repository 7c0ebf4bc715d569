package objstore

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/faults"
	"github.com/jitinject/jitinject/internal/journal"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// crashWithAll crashes a run that has made a file of each kind. With published, its result is in
// place.
func crashWithAll(t *testing.T, published bool) *crashedRun {
	t.Helper()
	r := newCrashedRun(t)
	p := r.result()
	r.object(r.store, "jitted-1-1.so")
	r.store.created.Add("jitted-1-2.so")
	r.put("made/objects/jitted-1-2.so", "half an object")
	_, err := r.store.Draft("jitbundle-1-0", 0o600)
	r.must(err)
	r.put("made/source", "a source")
	journal.AddPath(filepath.Join(r.dir, "made/source"))
	if published {
		r.must(p.Rename("out"))
	}
	r.store.crash()
	return r
}

// recoverWith lets a call of Recover fail. It returns nil once Recover makes no such call.
func recoverWith(r *crashedRun, f *faults.Fault) (got Recovered, files []string) {
	restore := sys.Use(f)
	got = Recover(journal.Read(r.buf), false)
	restore()
	r.must(filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != r.dir {
			files = append(files, path)
		}
		return err
	}))
	return got, files
}

// Each call fails, once and from then on: messages name the files that are left.
func TestRecover_EveryCallFails(t *testing.T) {
	for _, every := range []bool{false, true} {
		for n := 1; ; n++ {
			r := crashWithAll(t, false)
			f := &faults.Fault{N: n, Every: every}
			got, files := recoverWith(r, f)
			if f.Happened() == "" {
				if got != (Recovered{}) {
					t.Errorf("without a fault: got %+v; want nothing left", got)
				}
				break
			}
			if got.Complete {
				t.Errorf("%s: got a complete run; want one without a result", f.Happened())
			}
			kept := 0
			for _, path := range files {
				if base := filepath.Base(path); base == "out" || base == "jitted-1-9.so" {
					kept++
				} else if !isNamed(path, got.Left) {
					t.Errorf("%s: got %s left and the message %q; want a message that names it", f.Happened(), path, got.Left)
				}
			}
			if kept != 2 {
				t.Errorf("%s: got %d of the files that were there before; want 2", f.Happened(), kept)
			}
		}
	}
}

// isNamed reports whether a message says that a file may be left: by its name, or by its directory.
func isNamed(path, message string) bool {
	if strings.Contains(message, path) {
		return true
	}
	dir := filepath.Dir(path)
	for _, words := range []string{"files may be left in " + dir + ",", "objects of the run may be left in " + dir + ",", "objects that were made stay in " + dir + ":"} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// A result that is in place keeps its objects, whatever fails.
func TestRecover_EveryCallFailsAfterResult(t *testing.T) {
	for _, every := range []bool{false, true} {
		for n := 1; ; n++ {
			r := crashWithAll(t, true)
			f := &faults.Fault{N: n, Every: every}
			got, _ := recoverWith(r, f)
			if f.Happened() == "" {
				break
			}
			if got.Complete == got.Unknown || got.Unknown && !strings.Contains(got.Left, "unknown whether the result is in its place") {
				t.Errorf("%s: got %+v; want a complete run, or an unknown one", f.Happened(), got)
			}
			for _, name := range []string{"out", "made/objects/jitted-1-1.so", "made/source"} {
				if _, err := os.Stat(filepath.Join(r.dir, name)); err != nil {
					t.Errorf("%s: got %v; want the file to stay", f.Happened(), err)
				}
			}
		}
	}
}

// Records are missing, perhaps that of the result.
func TestRecover_ResultNotRecorded(t *testing.T) {
	r := newCrashedRun(t)
	r.object(r.store, "jitted-1-1.so")
	restore := sys.Use(&faults.Fault{N: 1})
	journal.AddFile(-1, "x")
	restore()
	r.store.crash()
	got := Recover(journal.Read(r.buf), false)
	if !got.Unknown || !strings.Contains(got.Left, "unknown whether the result is in its place") || !strings.Contains(got.Left, "objects that were made stay in ") {
		t.Errorf("got %+v; want that the result is unknown, and that objects stay", got)
	}
	r.wants("jitted-1-9.so", "made", "made/objects", "made/objects/jitted-1-1.so", "out")
}
