package showelf_test

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
)

// TestCutNumber: a last entry of .debug_info whose number has no end does not hold the
// reader for ever.
func TestCutNumber(t *testing.T) {
	objects, err := filepath.Glob("testdata/*.so")
	if err != nil || len(objects) == 0 {
		t.Fatal("no objects in testdata", err)
	}
	cut := 0
	for _, path := range objects {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		info := f.Section(".debug_info")
		if info == nil {
			continue
		}
		b[info.Offset+info.FileSize-1] = 0xff
		path = filepath.Join(t.TempDir(), "jitted-1-1.so")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := showtest.File(&out, path, &show.Options{}); err != nil && strings.Contains(err.Error(), "ends inside a number") {
			cut++
		}
	}
	if cut == 0 {
		t.Error("nobody notices")
	}
}
