package recording

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Workers get each record of a recording once. Of several records with an error, the first one counts.
func TestEachBlock_AllRecords(t *testing.T) {
	const n = 200_000
	path := filepath.Join(t.TempDir(), "perf.data")
	made := testrec.NewRecording()
	for i := range uint64(n) {
		made.Sample(1, 1000+i, i)
	}
	made.Write(t, path)
	in, err := Open(&config.Options{Input: path})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rec, err := Survey(context.Background(), in, false)
	if err != nil {
		t.Fatal(err)
	}
	if pieces := rec.Runs.List[len(rec.Runs.List)-1].end / minPiece; pieces < 4 {
		t.Fatalf("got a recording of %d pieces; want some", pieces)
	}
	for _, failing := range []uint64{n, 0, n / 2, n - 1} {
		var mu sync.Mutex
		seen := make([]int, n)
		err := rec.EachBlock(context.Background(), report.PhaseNone, func() func(*perfdata.Block) error {
			return func(b *perfdata.Block) error {
				mu.Lock()
				defer mu.Unlock()
				for _, r := range b.Records() {
					if h, ok := rec.Layouts.SampleHead(r); ok {
						if seen[h.IP]++; h.IP >= failing {
							return fmt.Errorf("%d", h.IP)
						}
					}
				}
				return nil
			}
		})
		for i := range min(failing, n) {
			if seen[i] != 1 {
				t.Fatalf("failing at %d: got record %d %d times; want once", failing, i, seen[i])
			}
		}
		if want := fmt.Sprint(failing); failing < n && (err == nil || err.Error() != want) || failing == n && err != nil {
			t.Errorf("failing at %d: got error %v; want that of the first record", failing, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err = rec.EachBlock(ctx, report.PhaseNone, func() func(*perfdata.Block) error { return func(*perfdata.Block) error { return nil } })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want %v", err, context.Canceled)
	}
}
