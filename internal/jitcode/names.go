package jitcode

import "unicode/utf8"

// MaxOriginName is the maximum length of an Origin's name, in bytes. Each function with a call of it
// repeats the name in its object.
const MaxOriginName = 8 << 10

// Beginning returns at most limit bytes of a name, and cuts between characters. It shares the
// memory of the name.
func Beginning(name []byte, limit int) []byte {
	if len(name) <= limit {
		return name
	}
	n := limit
	for n > 0 && limit-n < utf8.UTFMax-1 && !utf8.RuneStart(name[n]) {
		n--
	}
	if !utf8.RuneStart(name[n]) {
		n = limit // it is not in UTF-8
	}
	return name[:n]
}
