package showv8_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
)

// FuzzLog: whatever a log has, it is shown without a panic, as JSON and as text that a terminal does
// not obey.
func FuzzLog(f *testing.F) {
	for _, name := range []string{"node20.log", "node25.log"} {
		b, err := os.ReadFile("../../format/v8log/testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, true)
	}
	f.Add([]byte(smallLog), true)
	f.Add([]byte(smallLog), false)
	path := filepath.Join(f.TempDir(), "v8.log")
	f.Fuzz(func(t *testing.T, log []byte, asJSON bool) {
		if !bytes.HasPrefix(log, []byte("v8-version,")) {
			return
		}
		if err := os.WriteFile(path, log, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err := showtest.File(showtest.Limited{Out: &out}, path, &show.Options{JSON: asJSON, Hex: len(log)%2 == 0})
		var lost *show.LostOutput
		var damaged *show.Damaged
		if errors.As(err, &lost) {
			return // there is a lot to be shown
		}
		if err != nil && !errors.As(err, &damaged) {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if asJSON && !json.Valid(line) {
				t.Fatalf("got %q; want JSON", line)
			}
		}
		if i := bytes.IndexFunc(out.Bytes(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 || !utf8.Valid(out.Bytes()) {
			t.Fatalf("got control characters or no UTF-8 at byte %d; want none", i)
		}
	})
}
