package v8

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A failingList fails each listing of a directory, unless its fault is 0.
type failingList struct{ fault unix.Errno }

func (f failingList) Before(c *sys.Call) error {
	if c.Name != "getdents64" || f.fault == 0 {
		return nil
	}
	return f.fault
}

func (failingList) After(*sys.Call, int, error) {}

// The user may look up names in a directory without being allowed to list it: that is no fault of
// the run. A directory that is damaged may have lost a log.
func TestList_Errors(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "isolate-0x1-7-v8.log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fault           unix.Errno // 0: none
		dir             string
		named           string // by an option
		logs            int
		problems, notes int
	}{
		{0, dir, "", 1, 0, 0},
		{0, filepath.Join(dir, "none"), "", 0, 0, 0},
		{0, log, "", 0, 0, 0}, // no directory
		{unix.EACCES, dir, "", 0, 0, 1},
		{unix.EACCES, dir, dir + "/.", 0, 1, 0},
		{unix.EIO, dir, "", 0, 1, 0},
		{unix.EMFILE, dir, "", 0, 1, 0},
	} {
		a := &attacher{
			Attached: new(locate.Attached), rec: &recording.Recording{In: new(recording.Input)}, listed: make(map[sys.Inode]map[uint32][]string), opts: &config.Options{DumpDirs: []string{c.named}},
		}
		restore := sys.Use(failingList{c.fault})
		logs := a.list(c.dir)
		restore()
		if len(logs[7]) != c.logs || len(a.Found.Problems) != c.problems || len(a.Found.Notes) != c.notes {
			t.Errorf("%s: %v: got logs %v, problems %v, notes %v; want %d, %d, %d", c.dir, c.fault, logs, a.Found.Problems, a.Found.Notes, c.logs, c.problems, c.notes)
		}
		for _, p := range a.Found.Problems {
			if p.File != dir || !strings.HasSuffix(p.Text, c.fault.Error()) {
				t.Errorf("%s: got problem %+v; want one of %s, with the error", c.dir, p, dir)
			}
		}
		for _, n := range a.Found.Notes {
			if !strings.HasPrefix(n, dir+": "+c.fault.Error()) {
				t.Errorf("%s: got note %q; want one that begins with the directory and the error", c.dir, n)
			}
		}
	}
}
