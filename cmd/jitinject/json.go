package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
)

// A failedRun is the JSON summary of a run without output.
type failedRun struct {
	Version int    `json:"version"`
	Input   string `json:"input"`
	Output  string `json:"output"` // not written
	Error   string `json:"error"`
}

// writeJSON writes a summary and reports whether that went well.
func writeJSON(stdout, stderr io.Writer, v any) bool {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = stdout.Write(forTerminals(b.Bytes()))
	}
	if err != nil {
		fmt.Fprintf(stderr, "jitinject: the summary could not be written: %v\n", err)
		return false
	}
	return true
}

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
