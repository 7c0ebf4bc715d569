package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// isXML fails the test unless a picture is well-formed.
func isXML(t *testing.T, picture []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(picture))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("got %v; want well-formed XML:\n%s", err, picture)
		}
	}
}

// A terminal shows its lines, cut at its width; an animated one as well.
func TestTerminal_Lines(t *testing.T) {
	lines := []line{{text: "$ perf report", at: 0.5, typed: 1}, {text: " 53.25%  <node>", at: 2}, {text: strings.Repeat("x", 200), at: 2}}
	for _, length := range []float64{0, 15} {
		var b bytes.Buffer
		writeTerminal(&b, lines, length)
		isXML(t, b.Bytes())
		text := b.String()
		if !strings.Contains(text, "53.25%  &lt;node&gt;</text>") || !strings.Contains(text, strings.Repeat("x", columns-1)+"…") || strings.Contains(text, "<style>") != (length > 0) {
			t.Errorf("%g s: got %s; want all lines, the last one cut", length, text)
		}
	}
}
