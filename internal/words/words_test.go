package words

import (
	"testing"
	"time"
)

func TestNumber_Thousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 12345: "12,345", 999_999: "999,999", 1_000_007: "1,000,007", 1<<63 - 1: "9,223,372,036,854,775,807"} {
		if got := Number(n); got != want {
			t.Errorf("got %s for %d; want %s", got, n, want)
		}
	}
}

// Only 1 has the singular: 0 and 1,000 do not.
func TestNouns_AfterNumbers(t *testing.T) {
	for n, want := range map[int64][2]string{0: {"0 calls", "0 entries were"}, 1: {"1 call", "1 entry was"}, 2: {"2 calls", "2 entries were"}, 1001: {"1,001 calls", "1,001 entries were"}} {
		if got := Count(n, "call"); got != want[0] {
			t.Errorf("got %s for %d; want %s", got, n, want[0])
		}
		if got := Plural(int(n), "entry was", "entries were"); got != want[1] {
			t.Errorf("got %s for %d; want %s", got, n, want[1])
		}
	}
}

// Sizes change to a larger unit only from 10 of it on.
func TestSize_Units(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 bytes", 8192: "8,192 bytes", 9999: "9,999 bytes", 10_000: "10 kB", 35_999: "35 kB", 9_999_999: "9,999 kB", 10_000_000: "10 MB", 12_345_678_901: "12,345 MB"} {
		if got := Size(bytes); got != want {
			t.Errorf("got %s for %d; want %s", got, bytes, want)
		}
	}
}

// What takes less than a millisecond takes some time, too.
func TestDuration_Units(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1 ms", 999 * time.Microsecond: "1 ms", 20 * time.Millisecond: "20 ms", time.Second: "1.0 s", 59_940 * time.Millisecond: "59.9 s", time.Minute: "1m0s", 61 * time.Second: "1m1s", 2*time.Hour + 400*time.Millisecond: "2h0m0s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("got %s for %v; want %s", got, d, want)
		}
	}
}
