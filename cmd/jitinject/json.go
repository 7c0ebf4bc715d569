package main

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf16"
)

// forTerminals escapes the characters of a JSON document that a terminal might obey.
// They can be only inside strings, where JSON allows escapes. Package json leaves those
// beyond ASCII as they are.
func forTerminals(document []byte) []byte {
	plain := func(r rune) bool { return r == '\n' || unicode.IsPrint(r) }
	if bytes.IndexFunc(document, func(r rune) bool { return !plain(r) }) < 0 {
		return document
	}
	var b bytes.Buffer
	for _, r := range string(document) {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.Bytes()
}
