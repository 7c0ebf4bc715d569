package checkmap_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkmap"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// goodMap is a map of no problems found.
const goodMap = "7f1200000000 40 int Hot.fib(int)\n0x00007f1200000040 0x0000000000000100 JS:*f /app/f.js:1:1\n7f1200000200 1 one\n"

// alone is the breach of a map by itself.
func alone(rule, content string, also ...string) verifytest.Breach {
	return verifytest.Breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		return verifytest.Write(t, dir, "perf-4711.map", []byte(content)), verify.Options{}
	}, Also: also}
}

var breaches = []verifytest.Breach{
	alone("perfmap/fields", goodMap+"7f1200000300\n"),
	alone("perfmap/fields", goodMap+"7f1200000300 40\n"),
	alone("perfmap/fields", goodMap+"7f1200000300 40 \n"),
	alone("perfmap/fields", goodMap+"newline\n"),
	alone("perfmap/fields", goodMap+"a new line\n"),
	alone("perfmap/fields", goodMap+"7f1200000300 -40 name\n"),
	alone("perfmap/fields", goodMap+"17f12000003000000 40 name\n"),
	alone("perfmap/address", goodMap+"300 40 name\n"),
	alone("perfmap/address", goodMap+"ffffffff81000000 40 name\n"),
	alone("perfmap/address", goodMap+"7f1200000300 1000001 name\n"),
	alone("perfmap/size-zero", goodMap+"7f1200000300 0 name\n"),
	alone("perfmap/short-name", goodMap+"7f1200000300 40 ab\n"),
	alone("perfmap/name-text", goodMap+"7f1200000300 40 name\r\n"),
	alone("perfmap/name-text", goodMap+"7f1200000300 40 na\xffme\n"),
	alone("perfmap/line-length", goodMap+"7f1200000300 40 "+strings.Repeat("x", 70000)+"\n"),
	alone("perfmap/cut", goodMap+"7f1200000300 40 name"),
	alone("perfmap/no-functions", ""),
	alone("perfmap/no-functions", "\n\n"),
	alone("perfmap/overlap", goodMap+"7f120000013f 10 name\n"),
	alone("perfmap/overlap", goodMap+"7f1200000000 40 another\n"),
	alone("perfmap/twice", goodMap+"7f1200000200 1 one\n"),
}

// TestMapRules_Broken: for every rule there is a map that breaks it and no other.
func TestMapRules_Broken(t *testing.T) {
	verifytest.CheckBreaches(t, checks.Verifier(), checkmap.Format.Rules, breaches)
}

// TestMapRules_GoodMap: a good map has no diagnostics.
func TestMapRules_GoodMap(t *testing.T) {
	verifytest.CheckGood(t, checks.Verifier(), func(t *testing.T, dir string) (string, verify.Options) {
		return verifytest.Write(t, dir, "any name", []byte(goodMap)), verify.Options{}
	})
}

// TestMapRules_RealMaps: the maps of runtimes have no diagnostics.
func TestMapRules_RealMaps(t *testing.T) {
	paths, err := filepath.Glob("../../format/perfmap/testdata/*.map")
	if err != nil || len(paths) < 6 {
		t.Fatalf("got %v, %v; want 6 maps", paths, err)
	}
	for _, path := range paths {
		verifytest.CheckGood(t, checks.Verifier(), func(*testing.T, string) (string, verify.Options) { return path, verify.Options{} })
	}
}
