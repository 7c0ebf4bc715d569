package main

import (
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/words"
)

// slowMappings is the least number of mappings of one process that a perf takes seconds to read.
// The time of perf 6.12 grows with the square of the number, and that of perf 7.2 nearly so. perf
// 6.1 is fast (make bench).
const slowMappings = 5000

// writeSlowness advises an option if perf takes long to read a result with n mappings in one process.
func writeSlowness(w io.Writer, n int, o *options) {
	option := "--bundle"
	if o.Bundle {
		option = "--sampled"
	}
	if n >= slowMappings && !(o.Bundle && o.Sampled) {
		fmt.Fprintf(w, "perf 6.12 and 7.2 take long to read %s mappings of one process: inject with %s\n", words.Number(int64(n)), option)
	}
}
