package producer_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// What a function costs, in ns: go test -run XXX -bench . -benchtime 5x ./producer/test. Functions have
// 400 bytes of code and 20 lines. The metrics are the medians of all runs.
func BenchmarkCodeLoad(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "cost")
	sources := []string{filepath.Join("testdata", "cost.c"), filepath.Join("testdata", "implementation.c")}
	args := append([]string{"-std=gnu11", "-O2", "-pthread", "-I..", "-o", program}, sources...)
	testrec.Run(b, ".", testrec.Tool(b, "gcc"), args...)
	figures := make(map[string][]float64)
	for b.Loop() {
		for line := range strings.Lines(testrec.Run(b, dir, program, b.TempDir())) {
			what, text, _ := strings.Cut(strings.TrimSpace(line), " ")
			ns, err := strconv.ParseFloat(text, 64)
			if err != nil {
				b.Fatal(err)
			}
			figures[what] = append(figures[what], ns)
		}
	}
	for what, all := range figures {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], what+"-ns")
	}
	b.ReportMetric(0, "ns/op")
}
