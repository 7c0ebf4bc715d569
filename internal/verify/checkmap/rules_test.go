package checkmap_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/testrec"
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

// beside is the breach of a map beside a recording, in which process 4711 has memory from
// 0x7f1200000000 on.
func beside(rule, name, content string, change func(r *testrec.Recording)) verifytest.Breach {
	return verifytest.Breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		return withRecording(t, dir, name, content, change)
	}}
}

func withRecording(t *testing.T, dir, name, content string, change func(r *testrec.Recording)) (string, verify.Options) {
	t.Helper()
	r := testrec.NewRecording()
	r.Comm(4711, 900, "prog", true)
	r.Mmap2(4711, 1000, 0x7f1200000000, 0x1000, 0, "//anon")
	if change != nil {
		change(r)
	}
	r.Sample(4711, 2000, 0x7f1200000010)
	r.Write(t, filepath.Join(dir, "perf.data"))
	return verifytest.Write(t, dir, name, []byte(content)), verify.Options{Recordings: []string{filepath.Join(dir, "perf.data")}}
}

var breaches = []verifytest.Breach{
	alone("perfmap/fields", goodMap+"7f1200000300\n"),
	alone("perfmap/fields", goodMap+"7f1200000300 40\n"),
	alone("perfmap/fields", goodMap+"7f1200000300 40 \n"),
	alone("perfmap/fields", goodMap+"newline\n"),
	alone("perfmap/number", goodMap+"a new line\n"),
	alone("perfmap/number", goodMap+"7f1200000300 -40 name\n"),
	alone("perfmap/number", goodMap+"17f12000003000000 40 name\n"),
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

	beside("perfmap/not-mapped", "perf-4711.map", goodMap, func(r *testrec.Recording) {
		r.Mmap2(4711, 1001, 0x7f1200000040, 0x100, 0x80, "/app/jitted-4711-1.so")
	}),
}

// TestMapRules_Broken: for every rule there is a map that breaks it and no other.
func TestMapRules_Broken(t *testing.T) {
	verifytest.CheckBreaches(t, checks.Verifier(), checkmap.Format.Rules, breaches)
}

// TestMapRules_GoodMap: a good map has no diagnostics, alone, and beside its recording, before and after
// that was injected.
func TestMapRules_GoodMap(t *testing.T) {
	verifytest.CheckGood(t, checks.Verifier(), func(t *testing.T, dir string) (string, verify.Options) {
		return verifytest.Write(t, dir, "any name", []byte(goodMap)), verify.Options{}
	})
	for _, name := range []string{"perf-4711.map", "perf-1.map"} {
		verifytest.CheckGood(t, checks.Verifier(), func(t *testing.T, dir string) (string, verify.Options) {
			return withRecording(t, dir, name, goodMap, nil)
		})
		verifytest.CheckGood(t, checks.Verifier(), func(t *testing.T, dir string) (string, verify.Options) {
			return withRecording(t, dir, name, goodMap, func(r *testrec.Recording) {
				r.Mmap2(4711, 1001, 0x7f1200000000, 0x40, 0x80, "/app/jitted-4711-0.so")
			})
		})
	}
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
