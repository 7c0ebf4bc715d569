package known

import (
	"slices"
	"strings"
)

// withJIT returns r, or for a command of Ruby that asks for ZJIT a copy with ZJIT's option: YJIT's
// would ask for another compiler.
func (r *Runtime) withJIT(cmdline []string) *Runtime {
	isZJIT := func(word string) bool { return strings.Contains(word, "--zjit") }
	if !slices.Contains(r.names, "ruby") || !slices.ContainsFunc(cmdline, isZJIT) {
		return r
	}
	z := *r
	z.options, z.note = "--zjit-perf", mapOnly
	return &z
}
