package v8truth_test

import (
	"os"
	"path/filepath"
	"testing"
)

// Without a dump, the objects that are made of the log alone have its frames at every byte, too.
func TestObjects_FramesOfLogAlone(t *testing.T) {
	for name, dir := range recordings(t) {
		dumps, err := filepath.Glob(filepath.Join(dir, "jit-*.dump"))
		if err != nil || len(dumps) == 0 {
			t.Fatalf("got %q, %v; want a dump", dumps, err)
		}
		for _, path := range dumps {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(name, func(t *testing.T) { compareAll(t, dir, false) })
	}
}
