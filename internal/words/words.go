package words

import (
	"fmt"
	"strconv"
	"time"
)

// Number returns n with a comma before each three digits: 1,234,567. n is not negative.
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count returns a number with its noun, whose plural ends in s: 1 sample, 1,234 samples.
func Count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + noun + "s"
}

// Plural returns a number with the words that follow 1, or those that follow any other number:
// 1 object was, 2 objects were.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(int64(n)) + " " + many
}

// Size returns a number of bytes in units of 1,000: in bytes below 10 kB, in kB below 10 MB, and else
// in MB. The rest below the unit is left out.
func Size(bytes int64) string {
	switch {
	case bytes >= 10e6:
		return Number(bytes/1e6) + " MB"
	case bytes >= 10e3:
		return Number(bytes/1e3) + " kB"
	}
	return Number(bytes) + " bytes"
}

// Duration returns a time in milliseconds below a second, and never 0; in seconds below a minute; and
// else as 1m1s.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
