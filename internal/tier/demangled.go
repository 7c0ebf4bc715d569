package tier

import "github.com/ianlancetaylor/demangle"

// maxMangled is the length of the longest name that is demangled, in bytes, and maxDemangled the
// logarithm of the longest result: they may be much longer.
const (
	maxMangled   = 8 << 10
	maxDemangled = 16
)

// Demangled returns a name of C++ or Rust as perf prints it: without parameters. Other names stay.
func Demangled(name string) string {
	if len(name) > maxMangled {
		return name
	}
	return demangle.Filter(name, demangle.NoParams, demangle.MaxLength(maxDemangled))
}
