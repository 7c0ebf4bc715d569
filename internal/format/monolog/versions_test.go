package monolog

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// madeLogs returns the logs of testdata/made.zip: one of each version, with pointers of 4 and of 8 bytes,
// which has all kinds of events that the version has.
func madeLogs(tb testing.TB) map[string][]byte {
	tb.Helper()
	z, err := zip.OpenReader("testdata/made.zip")
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	logs := make(map[string][]byte)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			tb.Fatal(err)
		}
		if logs[f.Name], err = io.ReadAll(r); err != nil {
			tb.Fatal(err)
		}
		r.Close()
	}
	return logs
}

// mprof-report reads all versions: of each it has the same events, one behind the other.
func TestReader_EveryVersion(t *testing.T) {
	stored, err := os.ReadFile("testdata/made.txt")
	if err != nil {
		t.Fatal(err)
	}
	logs := madeLogs(t)
	seen := make(map[Kind]bool)
	for version := MinVersion; version <= MaxVersion; version++ {
		_, text, ok := strings.Cut(string(stored), fmt.Sprintf("== data version %d\n", version))
		if !ok {
			t.Fatalf("nothing about version %d", version)
		}
		text, _, _ = strings.Cut(text, "== data")
		counts := compare(t, bytes.NewReader(logs[fmt.Sprintf("v%d-8.mlpd", version)]), []byte(text))
		r, err := NewReader(bytes.NewReader(logs[fmt.Sprintf("v%d-4.mlpd", version)]))
		if err != nil {
			t.Fatal(err)
		}
		narrow, err := new(mprof).print(r, io.Discard)
		if err != nil {
			t.Errorf("version %d, pointers of 4 bytes: %v", version, err)
		}
		for k := KindAlloc; k < kinds; k++ {
			if seen[k] = seen[k] || counts[k] > 0; counts[k] != narrow[k] {
				t.Errorf("version %d: %d events %s, %d with pointers of 4 bytes", version, counts[k], k, narrow[k])
			}
		}
	}
	for k := KindAlloc; k < kinds; k++ {
		if !seen[k] {
			t.Errorf("no event %s", k)
		}
	}
}
