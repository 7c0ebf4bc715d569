package checkmap

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// FuzzMap: arbitrary bytes cause no panic, and every diagnostic is about a rule of the table.
func FuzzMap(f *testing.F) {
	paths, _ := filepath.Glob("../../format/perfmap/testdata/*.map")
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("7f1200000000 40 a\n7f1200000010 0 b\n\nx\n7f1200000010 40 c"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c := &checker{Reporter: verifytest.Reporter(t, rules)}
		if err := c.check(context.Background(), bytes.NewReader(in)); err != nil {
			t.Errorf("got %v; want no error", err)
		}
	})
}
