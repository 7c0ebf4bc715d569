package show_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/testrec"
)

// peak is a writer that looks at the heap now and then.
type peak struct {
	written int64
	first   time.Duration // when the first output came
	began   time.Time
	looked  int64
	heap    uint64
}

// newPeak returns one that sees nothing of what tests before it have left on the heap.
func newPeak() peak {
	runtime.GC()
	return peak{began: time.Now()}
}

func (p *peak) Write(b []byte) (int, error) {
	if p.written == 0 {
		p.first = time.Since(p.began)
	}
	p.written += int64(len(b))
	if p.written-p.looked > 8<<20 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.heap, p.looked = max(p.heap, m.HeapAlloc), p.written
	}
	return len(b), nil
}

// Memory does not grow with the file, the first output comes at once, and who stops
// reading stops the work.
func TestLargeFiles(t *testing.T) {
	dir := t.TempDir()
	if err := (testrec.Made{Functions: 3000, CodeSize: 30 << 10}).Write(dir); err != nil {
		t.Fatal(err)
	}
	data, dump := filepath.Join(dir, "perf.data"), testrec.Dumps(t, dir)[0]
	if err := testrec.Repeat(dir, 100<<20); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{data, dump} {
		st, err := os.Stat(path)
		if err != nil || st.Size() < 90<<20 {
			t.Fatalf("%s: %v, %v", path, st, err)
		}
		for _, opts := range []show.Options{{}, {JSON: true}} {
			p := newPeak()
			if err := show.File(&p, path, &opts); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, JSON %v: %d MB in %v, of text %d MB, first after %v, heap %d MB", filepath.Base(path), opts.JSON, st.Size()>>20,
				time.Since(p.began).Round(time.Millisecond), p.written>>20, p.first, p.heap>>20)
			if p.heap > 48<<20 || p.written < 1<<20 {
				t.Errorf("%s: %d MB of heap for %d MB of output", path, p.heap>>20, p.written>>20)
			}
			if p.first > time.Second/2 {
				t.Errorf("%s: the first output came after %v", path, p.first)
			}
		}
		c := closed{after: 3}
		err = show.File(&c, path, &show.Options{})
		if !errors.Is(err, syscall.EPIPE) || c.calls > 4 {
			t.Errorf("%s: nobody reads, but %d writes and %v", path, c.calls, err)
		}
	}
}

// closed fails after some writes.
type closed struct{ calls, after int }

func (c *closed) Write(b []byte) (int, error) {
	c.calls++
	if c.calls > c.after {
		return 0, syscall.EPIPE
	}
	return len(b), nil
}

var _ io.Writer = (*closed)(nil)
