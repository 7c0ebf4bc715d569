package main

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Sizes of terminals, in pixels and in columns.
const (
	columns   = 110 // of 8.43 pixels
	rowSize   = 18
	padding   = 12
	fontSize  = 14
	textWidth = 928
)

// A line is a row of a terminal, with the second at which it appears. Typed is the time that typing it
// takes, in seconds; 0 for lines that a program prints.
type line struct {
	text      string
	at, typed float64
}

// hot finds the shares of perf report and annotate.
var hot = regexp.MustCompile(`^\s*(?:[|\s-]*)(\d+\.\d+)\s*%?`)

// ink returns the colour of a line: red for high shares, green for low ones, as perf's own.
func ink(text string) string {
	if strings.HasPrefix(text, "$ ") {
		return "#ffffff"
	}
	if m := hot.FindStringSubmatch(text); m != nil {
		switch share, _ := strconv.ParseFloat(m[1], 64); {
		case share >= 5:
			return "#ff7b72"
		case share >= 0.5:
			return "#7ee787"
		}
	}
	return "#c9d1d9"
}

// writeTerminal writes a terminal with lines. With a length in seconds it is animated, and begins again
// after that.
func writeTerminal(w io.Writer, lines []line, length float64) {
	width, height := textWidth+2*padding, len(lines)*rowSize+2*padding
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="%d">`+"\n", width, height, width, height, fontSize)
	if length > 0 {
		writeTimes(w, lines, length)
	}
	fmt.Fprintf(w, `<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>`+"\n")
	for i, l := range lines {
		text := []rune(strings.ReplaceAll(l.text, "\t", "        "))
		if len(text) > columns {
			text = append(text[:columns-1], '…')
		}
		class := ""
		if length > 0 {
			class = fmt.Sprintf(` class="l%d"`, i)
		}
		fmt.Fprintf(w, `<text x="%d" y="%d" fill="%s" xml:space="preserve"%s>%s</text>`+"\n", padding, padding+(i+1)*rowSize-5, ink(l.text), class, html.EscapeString(string(text)))
	}
	fmt.Fprintln(w, "</svg>")
}

// writeTimes writes the style that lets lines appear: at once, or letter by letter if they are typed.
func writeTimes(w io.Writer, lines []line, length float64) {
	fmt.Fprintln(w, "<style>")
	for i, l := range lines {
		from, to := 100*l.at/length, 100*(l.at+l.typed)/length
		if l.typed == 0 {
			fmt.Fprintf(w, ".l%d{animation:l%d %gs infinite step-end}@keyframes l%d{0%%{opacity:0}%.2f%%{opacity:1}100%%{opacity:1}}\n", i, i, length, i, max(from, 0.01))
			continue
		}
		letters := len([]rune(l.text))
		fmt.Fprintf(w, ".l%d{animation:l%d %gs infinite}@keyframes l%d{0%%,%.2f%%{clip-path:inset(0 100%% 0 0);animation-timing-function:steps(%d)}%.2f%%,100%%{clip-path:inset(0 0 0 0)}}\n",
			i, i, length, i, from, letters, to)
	}
	fmt.Fprintln(w, "</style>")
}
