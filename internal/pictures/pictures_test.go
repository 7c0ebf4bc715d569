package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// scriptOutput is what perf script -F comm,ip,sym prints.
const scriptOutput = `node 
	    7f01 cell (inlined)
	    7f01 JS:*step /app/life.js:16:14
	    7f02 main

perf 
	    7f03 other

node 
	    7f04 JS:*step /app/life.js:16:14
	    7f02 main

`

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

// A flame graph has the stacks of one command, with callers below their callees.
func TestFlames_OfScript(t *testing.T) {
	root, err := readStacks(strings.NewReader(scriptOutput), "node")
	if err != nil || root.samples != 2 || len(root.callees) != 1 || root.depth(1) != 4 {
		t.Fatalf("got %+v, %v; want 2 samples below main, 4 rows", root, err)
	}
	step := root.callees[0].callees[0]
	if step.samples != 2 || len(step.callees) != 1 || step.callees[0].name != "cell" || step.callees[0].samples != 1 {
		t.Errorf("got %+v; want step with 2 samples, one of them in cell", step)
	}
	var b bytes.Buffer
	writeFlames(&b, root, "a <title>")
	isXML(t, b.Bytes())
	if !strings.Contains(b.String(), "<title>cell, 50.0 %</title>") {
		t.Errorf("got %s; want cell with half of the samples", b.String())
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
