package main

import (
	"fmt"
	"math"
	"strings"
)

// A panel is one diagram with both axes logarithmic: of such, what grows in
// proportion to the number of functions is a line with a slope of 1.
type panel struct {
	left         float64 // where it begins in the picture
	title        string
	low, high    float64 // of the vertical axis, powers of ten
	unit         string
	value        func(*growth) []float64
	width, depth float64
}

// Colours that are told apart by everybody, and in grey.
var colours = []string{"#0072b2", "#009e73", "#e69f00", "#d55e00", "#cc79a7"}

const (
	plotTop  = 50.0
	plotWide = 980
	plotHigh = 480
)

// drawGrowth returns an SVG picture: time on the left, memory on the right.
func drawGrowth(grown []growth) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", plotWide, plotHigh)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWide, plotHigh)
	for _, p := range []panel{
		{left: 70, title: "time", low: 0.01, high: 100, unit: "s", value: func(g *growth) []float64 { return g.wall }},
		{left: 560, title: "peak memory", low: 10, high: 10_000, unit: "MB", value: func(g *growth) []float64 { return g.peak }},
	} {
		p.width, p.depth = 390, 300
		p.draw(&b, grown)
	}
	x, y := 70.0, plotTop+300+70
	for i, g := range grown {
		if len(g.wall) == 0 {
			continue
		}
		fmt.Fprintf(&b, `<line x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f" stroke="%s" stroke-width="2.5"/>`+"\n", x, y-4, x+26, y-4, colours[i])
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f">%s</text>`+"\n", x+32, y, g.name)
		if x += 300; x > 800 {
			x, y = 70, y+24
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// x and y return where a value is in the picture.
func (p *panel) x(functions float64) float64 {
	first, last := math.Log(float64(sizes[0])), math.Log(float64(sizes[len(sizes)-1]))
	return p.left + p.width*(math.Log(functions)-first)/(last-first)
}

func (p *panel) y(v float64) float64 {
	v = min(max(v, p.low), p.high)
	return plotTop + p.depth*(1-math.Log(v/p.low)/math.Log(p.high/p.low))
}

func (p *panel) draw(b *strings.Builder, grown []growth) {
	bottom := plotTop + p.depth
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f" font-weight="bold">%s</text>`+"\n", p.left, plotTop-18, p.title)
	for v := p.low; v <= p.high*1.001; v *= 10 {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", p.left, p.y(v), p.left+p.width, p.y(v))
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="end">%g %s</text>`+"\n", p.left-6, p.y(v)+4, v, p.unit)
	}
	for _, n := range sizes {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", p.x(float64(n)), plotTop, p.x(float64(n)), bottom)
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", p.x(float64(n)), bottom+22, thousands(n))
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">functions</text>`+"\n", p.left+p.width/2, bottom+42)
	for i := range grown {
		var points []string
		for j, v := range p.value(&grown[i]) {
			points = append(points, fmt.Sprintf("%.1f,%.1f", p.x(float64(sizes[j])), p.y(v)))
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2.5"/>`+"\n", strings.Join(points, " "), colours[i])
		for _, at := range points {
			x, y, _ := strings.Cut(at, ",")
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="3.5" fill="%s"/>`+"\n", x, y, colours[i])
		}
	}
}
