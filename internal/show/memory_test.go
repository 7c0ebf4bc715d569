package show_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Memory does not grow with the file, the first output comes at once, and who stops
// reading stops the work.
func TestLargeFiles(t *testing.T) {
	dir := t.TempDir()
	if err := (testrec.Made{Functions: 3000, CodeSize: 30 << 10}).Write(dir); err != nil {
		t.Fatal(err)
	}
	path := testrec.Dumps(t, dir)[0]
	if err := testrec.Repeat(dir, 100<<20); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil || st.Size() < 90<<20 {
		t.Fatalf("%s: %v, %v", path, st, err)
	}
	for _, opts := range []show.Options{{}, {JSON: true}} {
		p := showtest.NewPeak()
		if err := showtest.File(&p, path, &opts); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s, JSON %v: %d MB in %v, of text %d MB, first after %v, heap %d MB", filepath.Base(path), opts.JSON, st.Size()>>20,
			time.Since(p.Began).Round(time.Millisecond), p.Written>>20, p.First, p.Heap>>20)
		if p.Heap > 48<<20 || p.Written < 1<<20 {
			t.Errorf("%s: %d MB of heap for %d MB of output", path, p.Heap>>20, p.Written>>20)
		}
		if p.First > time.Second/2 {
			t.Errorf("%s: the first output came after %v", path, p.First)
		}
	}
	c := showtest.Closed{After: 3}
	err = showtest.File(&c, path, &show.Options{})
	if !errors.Is(err, syscall.EPIPE) || c.Calls > 4 {
		t.Errorf("%s: got no reader, but %d writes and %v", path, c.Calls, err)
	}
}
