package gdbjit

import (
	"encoding/base64"
	"regexp"
	"strconv"
)

// numbaTags matches the ABI tags by which Numba tells one compilation of a function from others, up to
// the text of the second: the number of the compilation, such as v1, and the compiler's flags.
var numbaTags = regexp.MustCompile(`B\d+v\d+(B(\d+))[A-Za-z]`)

// escaped matches Numba's form of a character that is no letter, digit or underscore.
var escaped = regexp.MustCompile(`_[0-9a-f]{2}`)

// withoutNumbaFlags returns a mangled name without the flags of Numba's compiler, a compressed text in
// base64 (mangle_identifier of numba/core/itanium_mangler.py, get_mangle_string of targetconfig.py). The
// number of the compilation stays: it makes names unique.
func withoutNumbaFlags(name []byte) []byte {
	m := numbaTags.FindSubmatchIndex(name)
	if m == nil {
		return name
	}
	length, err := strconv.Atoi(string(name[m[4]:m[5]]))
	begin := m[5]
	if err != nil || length > len(name)-begin {
		return name
	}
	text := escaped.ReplaceAllFunc(name[begin:begin+length], func(b []byte) []byte {
		c, _ := strconv.ParseUint(string(b[1:]), 16, 8) // the expression has checked it
		return []byte{byte(c)}
	})
	if _, err := base64.StdEncoding.Strict().DecodeString(string(text)); err != nil {
		return name
	}
	return append(name[:m[2]:m[2]], name[begin+length:]...)
}
