package main

import (
	"fmt"
	"os"
	"strings"
)

// sizes are the numbers of functions for which growth is measured.
var sizes = []int{10_000, 30_000, 100_000, 300_000}

// perfMost is up to where perf inject takes part: it needs 17 KB of memory for each
// function.
const perfMost = 100_000

// A growth is what a contestant takes for each of the sizes, as far as it went.
type growth struct {
	name string
	wall []float64 // seconds
	peak []float64 // MB
}

// growth measures how time and memory grow with the number of functions, and draws
// them into a file, if there is a name for one.
func (b *bench) growth(dir, plot string) error {
	m, err := newMedium(dir, false)
	if err != nil {
		return err
	}
	defer m.close()
	fmt.Print(machine(dir, ""))
	names := []string{byDefault, sampled, bundle, perfInject, withoutCache}
	rounds := max(b.rounds, 1)
	grown := make([]growth, len(names))
	for _, n := range sizes {
		r := madeRecording(n)
		c := &contest{recording: r, medium: m, rounds: rounds}
		for _, name := range names {
			if name != perfInject && name != withoutCache || n <= perfMost {
				c.contestants = append(c.contestants, b.injectors(name)...)
			}
		}
		if err := c.hold(); err != nil {
			return fmt.Errorf("%d functions: %w", n, err)
		}
		m.forget(r)
		for i, name := range names {
			grown[i].name = name
			if one := c.find(name); one != nil {
				grown[i].wall = append(grown[i].wall, median(one.times()).Seconds())
				grown[i].peak = append(grown[i].peak, one.peak())
			}
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "Rounds: %d, in memory. Seconds, and MB of memory at the most.\n\n| functions |", rounds)
	for _, n := range sizes {
		fmt.Fprintf(&table, " %s |", thousands(n))
	}
	fmt.Fprintf(&table, "\n|---|%s\n", strings.Repeat("---:|", len(sizes)))
	for _, g := range grown {
		if len(g.wall) == 0 {
			continue
		}
		fmt.Fprintf(&table, "| %s |", g.name)
		for i := range sizes {
			if i < len(g.wall) {
				fmt.Fprintf(&table, " %.2f s, %.0f MB |", g.wall[i], g.peak[i])
			} else {
				table.WriteString(" - |")
			}
		}
		table.WriteString("\n")
	}
	if err := b.shown.section("growth", table.String()); err != nil || plot == "" {
		return err
	}
	return os.WriteFile(plot, []byte(drawGrowth(grown)), 0o644)
}
