package showelf_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
)

// What is shown of small objects, byte for byte.
func TestGolden(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"toyjit.so", "bundle.so"} {
		b, err := os.ReadFile(filepath.Join(testdata, name))
		if err != nil {
			t.Fatal(err)
		}
		showtest.Put(t, name, b)
	}
	showtest.Golden(t, testdata, "toyjit.txt", showtest.Whole(t, "toyjit.so", show.Options{Disassemble: true}))
	showtest.Golden(t, testdata, "bundle.txt", showtest.Whole(t, "bundle.so", show.Options{}))
	showtest.Golden(t, testdata, "toyjit.json", showtest.Whole(t, "toyjit.so", show.Options{JSON: true}))
}
