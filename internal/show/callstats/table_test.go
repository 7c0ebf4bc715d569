package callstats

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
)

// Lengths have four digits, in the unit that fits.
func TestReadable(t *testing.T) {
	for ns, want := range map[float64]string{
		0: "0 ns", 7: "7 ns", 999: "999 ns", 7.25: "7.250 ns", 44.361: "44.36 ns", 999.96: "1.000 us",
		1000: "1.000 us", 9999.6: "10.00 us", 99_996: "100.0 us", 999_940: "999.9 us", 999_960: "1.000 ms",
		86_059_190: "86.06 ms", 2_499_498_200: "2.499 s", 86_400e9: "86400 s",
	} {
		if got := readable(ns); got != want {
			t.Errorf("%v ns is %q, want %q", ns, got, want)
		}
	}
}

// Columns stand below each other, whatever is in them: counts of nine digits, calls
// without an end, ranks that are not exact, a clock whose rate nobody says.
func TestCallsColumns(t *testing.T) {
	var l Ledger
	l.Add(1, 5, 5)
	for n := range uint64(200) {
		l.Add(2, n*n*n*7, n)
	}
	l.functions[2].spread()
	l.functions[2].count = 123_456_789
	l.Add(4, 3, 3)
	l.Add(5, 2, 2)
	names := []string{1: "one\x1b[31m", 2: "two", 3: "", 4: "twin", 5: "twin"}
	for _, unit := range []string{"ns", "ticks"} {
		var b bytes.Buffer
		o := show.NewTextForm(&b, false)
		n := (&Table{
			Ledger: &l, Unfinished: map[uint64]uint64{3: 4, 2: 1}, Unit: unit, Key: "function",
			Length: func(ticks float64) float64 { return ticks },
			Name:   func(id uint64) string { return names[id] },
		}).Show(o)
		o.Flush()
		lines := strings.Split(b.String(), "\n")
		if n != 5 || len(lines) != 9 {
			t.Fatalf("%d functions:\n%s", n, b.String())
		}
		names := strings.Index(lines[1], "  function")
		for i, want := range []string{"two", `one\x1b[31m`, "twin, function 4", "twin, function 5", "function 3"} {
			if line := lines[2+i]; len(line) < names || line[names:] != "  "+want || strings.HasSuffix(line[:names], " ") {
				t.Errorf("%s: the name is not at column %d:\n%s", unit, names, b.String())
			}
		}
		if strings.Count(lines[2], "~") != 3 || strings.Contains(lines[3], "~") {
			t.Errorf("%s: ranks that are not exact:\n%s", unit, b.String())
		}
		if strings.Contains(b.String(), " ns") != (unit == "ns") {
			t.Errorf("%s:\n%s", unit, b.String())
		}
	}
}
