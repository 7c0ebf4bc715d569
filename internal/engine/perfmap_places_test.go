package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Objects of a map go beside the result: the map's directory may be /tmp, which systems tidy and
// users share.
func TestPerfMap_ObjectsBesideTheResult(t *testing.T) {
	w := newMapWorld(t)
	w.dirs("maps", "result")
	w.mapped(mapPID)
	if err := os.Remove(w.path(fmt.Sprintf("perf-%d.map", mapPID))); err != nil {
		t.Fatal(err)
	}
	w.mapFile(fmt.Sprintf("maps/perf-%d.map", mapPID), "7f1200000000 40 function")
	w.opts.DumpDirs, w.opts.Output = []string{w.path("maps")}, w.path("result/out.data")
	w.expect(mapPID, 2000, 0x7f1200000010, "function+0x10")
	sum := w.check()
	if got, want := sum.Dumps[0].Objects, w.path("result"); got != want {
		t.Errorf("got objects in %s; want %s", got, want)
	}
	if objects, _ := filepath.Glob(w.path("maps/*.so")); len(objects) != 0 {
		t.Errorf("got %s beside the map; want no object there", objects)
	}
}
