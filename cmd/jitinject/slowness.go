package main

import (
	"fmt"
	"io"
)

// slowMappings is the number of mappings of one process from which on a perf takes seconds to read
// them. perf 6.12 takes time that grows with the square of the number (make bench).
const slowMappings = 5000

// writeSlowness advises an option if perf takes long to read a result with n mappings in one process.
func writeSlowness(w io.Writer, n int, o *options) {
	option := "--bundle"
	if o.bundle {
		option = "--sampled"
	}
	if n >= slowMappings && !(o.bundle && o.sampled) {
		fmt.Fprintf(w, "perf 6.12 takes long to read %s mappings of one process: with %s there are fewer\n", number(int64(n)), option)
	}
}
