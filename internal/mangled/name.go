package mangled

import (
	"math/bits"
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Limits of names: a few characters of hostile ones may stand for gigabytes.
const (
	maxMangled   = 4 << 10 // longer names stay mangled
	minDemangled = 12      // log2 of the length that the result of a short name may have, and of any name
	maxDemangled = 16
	// maxExpanded bounds the work for packs of arguments: each expansion takes the square of their number.
	maxExpanded = 1 << 18
)

// Demangle returns a name of C++ or Rust as a person would write it. Other names stay.
func Demangle(name string, options ...demangle.Option) string {
	if !strings.HasPrefix(name, "_") || isSlow(name) {
		return name
	}
	return demangle.Filter(name, append(options, demangle.MaxLength(min(max(minDemangled, bits.Len(uint(8*len(name)))), maxDemangled)))...)
}

// WithoutParameters returns a name of C++ or Rust as perf prints it.
func WithoutParameters(name string) string { return Demangle(name, demangle.NoParams) }

// qualifiers matches repeated qualifiers of a type, which no compiler writes. Demangling takes the square
// of their number.
var qualifiers = regexp.MustCompile(`([rVK]|D[oOwx]){4}`)

// isSlow reports whether a name may take very long to demangle.
func isSlow(name string) bool {
	return len(name) > maxMangled || packsIn(name)*len(name)*len(name) > maxExpanded || qualifiers.MatchString(name)
}

// packsIn counts the expansions of packs of arguments in a mangled name, outside of the identifiers in it.
func packsIn(name string) (n int) {
	for i := 0; i < len(name); {
		if name[i] < '1' || name[i] > '9' {
			if rest := name[i:]; strings.HasPrefix(rest, "Dp") || strings.HasPrefix(rest, "sp") {
				n++
				i++
			}
			i++
			continue
		}
		from, size := i, 0
		for ; i < len(name) && '0' <= name[i] && name[i] <= '9'; i++ {
			size = min(10*size+int(name[i]-'0'), len(name))
		}
		// It is no literal (L<type>12E), constructor (C1), _Float16 or the like.
		isName := i+size <= len(name) && (from == 0 || !strings.ContainsRune("CDF", rune(name[from-1]))) && (from < 2 || name[from-2] != 'L')
		for k := 0; isName && k < size; k++ {
			c, lower := name[i+k], name[i+k]|0x20
			isName = 'a' <= lower && lower <= 'z' || k > 0 && (c == '_' || '0' <= c && c <= '9')
		}
		if isName && name[i] != 'E' {
			i += size
		}
	}
	return n
}
