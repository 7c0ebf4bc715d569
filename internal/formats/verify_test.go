package formats_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/verify"
)

// A log among the files to check is held against the dumps among them.
func TestBeside_LogOfV8(t *testing.T) {
	const log, dump, other = "../format/v8log/testdata/node25.log", "../runtime/v8/testdata/node25.dump", "show.go"
	v := formats.Verifier()
	recordings, logs, dumps := formats.Beside(v, []string{log, dump, other})
	if len(recordings) > 0 || len(logs) > 0 || !slices.Equal(dumps, []string{dump}) {
		t.Fatalf("got recordings %v, logs %v, dumps %v; want the dump only", recordings, logs, dumps)
	}
	result, err := v.File(context.Background(), log, verify.Options{Dumps: dumps})
	if want := "17 of 17 optimized are in node25.dump"; err != nil || !strings.HasSuffix(result.Holds, want) {
		t.Errorf("got %q, %v; want %q", result.Holds, err, want)
	}
}
