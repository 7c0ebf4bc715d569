package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
)

// A frame is a function of a flame graph, with all that it calls.
type frame struct {
	name    string
	samples int
	callees []*frame
}

// callee returns the callee of a name, and adds it if it is new.
func (f *frame) callee(name string) *frame {
	for _, c := range f.callees {
		if c.name == name {
			return c
		}
	}
	c := &frame{name: name}
	f.callees = append(f.callees, c)
	return c
}

// readStacks reads the output of perf script -F comm,ip,sym: the stacks of one command.
func readStacks(r io.Reader, command string) (*frame, error) {
	root := &frame{name: command}
	var stack []string
	own := false
	end := func() {
		if own && len(stack) > 0 {
			root.samples++
			at := root
			for _, name := range slices.Backward(stack) {
				at = at.callee(name)
				at.samples++
			}
		}
		stack = stack[:0]
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch addr, name, ok := strings.Cut(line, " "); {
		case line == "":
			end()
		case !strings.HasPrefix(lines.Text(), "\t"):
			own = line == command
		case ok && addr != "":
			stack = append(stack, strings.TrimSuffix(name, " (inlined)"))
		}
	}
	end()
	return root, lines.Err()
}

// depth returns the number of rows of a flame graph.
func (f *frame) depth(least int) int {
	deepest := 0
	for _, c := range f.callees {
		if c.samples >= least {
			deepest = max(deepest, c.depth(least))
		}
	}
	return deepest + 1
}

// Sizes of flame graphs, in pixels.
const (
	flameWidth  = 1200
	flameRow    = 17
	flameMargin = 10
	flameTitle  = 34
	letterWidth = 6.6 // of the font, at 11 px
)

// smallest is the share of samples below which frames are left out: one in so many.
const smallest = 250

// writeFlames writes a flame graph: the outermost callers at the bottom.
func writeFlames(w io.Writer, root *frame, title string) {
	least := max(1, root.samples/smallest)
	height := flameTitle + root.depth(least)*flameRow + flameMargin
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="11">`+"\n",
		flameWidth+2*flameMargin, height, flameWidth+2*flameMargin, height)
	fmt.Fprintf(w, `<rect width="100%%" height="100%%" fill="#fdfdf5"/><text x="%d" y="22" font-size="15">%s</text>`+"\n", flameMargin, html.EscapeString(title))
	root.write(w, flameMargin, float64(flameWidth)/float64(root.samples), height-flameMargin-flameRow, least, root.samples)
	fmt.Fprintln(w, "</svg>")
}

// write writes a frame and its callees, from x on, at width pixels a sample.
func (f *frame) write(w io.Writer, x, width float64, y, least, all int) {
	size := float64(f.samples) * width
	fmt.Fprintf(w, `<g><title>%s, %.1f %%</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`,
		html.EscapeString(f.name), 100*float64(f.samples)/float64(all), x, y, max(size-0.4, 0.2), flameRow-1, colour(f.name))
	if letters := int((size - 4) / letterWidth); letters >= 3 {
		text := []rune(f.name)
		if len(text) > letters {
			text = append(text[:letters-2], '.', '.')
		}
		fmt.Fprintf(w, `<text x="%.1f" y="%d">%s</text>`, x+2, y+flameRow-5, html.EscapeString(string(text)))
	}
	fmt.Fprintln(w, "</g>")
	callees := slices.Clone(f.callees)
	slices.SortFunc(callees, func(a, b *frame) int { return strings.Compare(a.name, b.name) })
	for _, c := range callees {
		if c.samples >= least {
			c.write(w, x, width, y-flameRow, least, all)
		}
		x += float64(c.samples) * width
	}
}

// colour returns the colour of a function: green for JavaScript, grey for unknown ones.
func colour(name string) string {
	switch {
	case name == "[unknown]" || strings.HasPrefix(name, "0x"):
		return "#c8c8c8"
	case isScript(name):
		return "#8fd06f"
	case strings.HasPrefix(name, "Builtin") || strings.HasPrefix(name, "RegExp:"):
		return "#ffd866"
	}
	return "#f2a65a"
}

// isScript reports whether a function is JavaScript: V8's names begin with JS:, and those of inlined
// functions have no sign of C++.
func isScript(name string) bool {
	return strings.HasPrefix(name, "JS:") || scriptNames[name]
}

// scriptNames are the functions of life.js.
var scriptNames = map[string]bool{"cell": true, "neighbours": true, "step": true, "hash": true, "render": true, "summary": true, "play": true}
