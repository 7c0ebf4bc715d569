package engine_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A preview counts what the run shows, and writes nothing.
func TestPreview_CountsAsRun(t *testing.T) {
	for _, name := range []string{"node-fp", "node-dwarf", "node-noclock", "php", "lli-hot", "toyjit"} {
		dir := testrec.Unpack(t, name)
		before, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		opts := config.Options{Input: filepath.Join(dir, "perf.data"), Preview: true, Force: true}
		preview, err := engine.Run(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
			t.Errorf("%s: %d files, %v; want %d", name, len(after), err, len(before))
		}
		opts.Preview, opts.Output = false, filepath.Join(dir, "out.data")
		sum, err := engine.Run(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(preview.Samples, sum.Samples) || len(preview.Dumps) != len(sum.Dumps) || preview.Functions() != sum.Functions() || sum.Samples.Total == 0 {
			t.Errorf("%s: got %s; want %s", name, asJSON(preview), asJSON(sum))
		}
	}
}
