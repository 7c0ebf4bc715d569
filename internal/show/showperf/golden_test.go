package showperf_test

import (
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
)

// What is shown of small recordings, byte for byte.
func TestGolden(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	showtest.Put(t, "small.data", showtest.Recording().Bytes())
	showtest.Golden(t, testdata, "small.txt", showtest.Whole(t, "small.data", show.Options{}))
	showtest.Golden(t, testdata, "small.json", showtest.Whole(t, "small.data", show.Options{JSON: true}))
}
