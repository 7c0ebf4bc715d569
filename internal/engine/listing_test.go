package engine_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/testrec"
)

// listed counts how often directories are read to their ends.
type listed struct{ n atomic.Int64 }

func (l *listed) Before(*sys.Call) error { return nil }

func (l *listed) After(c *sys.Call, _ int, err error) {
	if c.Name == "getdents64" && (c.Path != "" || err == io.EOF) {
		l.n.Add(1)
	}
}

// A directory is read once in a run, however many objects of earlier runs are in it.
func TestRun_ListsDirectoryOnce(t *testing.T) {
	dir := testrec.Unpack(t, "node-hot")
	t.Chdir(dir)
	for i := range 100 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("jitted-1-%d.so", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, change := range []func(*config.Options){
		func(*config.Options) {}, func(o *config.Options) { o.Bundle = true }, func(o *config.Options) { o.Sampled = true },
		func(o *config.Options) { o.DumpDirs = []string{dir, dir + "/."} },
	} {
		opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data")}
		change(&opts)
		var l listed
		restore := sys.Use(&l)
		sum, err := engine.Run(context.Background(), opts)
		restore()
		if err != nil || sum.Objects == 0 {
			t.Fatalf("got %s, %v; want objects", asJSON(sum), err)
		}
		if n := l.n.Load(); n != 1 {
			t.Errorf("got %d directories read in run %d; want one", n, i)
		}
	}
}
