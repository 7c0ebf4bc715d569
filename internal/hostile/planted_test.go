package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Who owns a directory can rename what others have in it. A directory that gets the name
// of what a killed run leaves is not taken for that.
func TestPlanted_Directory(t *testing.T) {
	s := newStage(t, 3)
	s.inject().wants(allInjected)
	plant := func(name string) {
		s.must(os.MkdirAll(s.path(filepath.Join(name, "deep")), 0o700))
		s.put(filepath.Join(name, "deep", "file"), precious)
		s.put(filepath.Join(name, "data"), precious)
	}
	names := []string{".out.data.0.partial", ".out.data.1.partial", ".out.data.old.0.partial", ".jitinject.0.partial", ".jitted-4711-1.so.0.partial"}
	for _, name := range names {
		plant(name)
	}
	s.put(fmt.Sprintf("jitted-%d-1.so", pid), "other") // is replaced
	s.inject("-f").wants(allInjected)
	s.shows("out.data", 3)
	s.run("clean", "out.data").wants(allInjected)
	for _, name := range names {
		if s.read(filepath.Join(name, "deep", "file")) != precious || s.read(filepath.Join(name, "data")) != precious {
			t.Errorf("%s is not what it was", name)
		}
	}
}
