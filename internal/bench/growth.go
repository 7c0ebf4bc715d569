package main

import (
	"fmt"
	"strings"
)

// sizes are the numbers of functions for which growth is measured.
var sizes = []int{10_000, 30_000, 100_000, 300_000}

// perfMost is up to where perf inject takes part: it needs 17 KB of memory for each
// function.
const perfMost = 100_000

// growth measures how time and memory grow with the number of functions.
func (b *bench) growth(dir string) error {
	m, err := newMedium(dir, false)
	if err != nil {
		return err
	}
	defer m.close()
	fmt.Print(machine(dir, ""))
	names := []string{byDefault, sampled, bundle, perfInject, withoutCache}
	rounds, head := max(b.rounds, 1), "| functions |"
	rows := make([]string, len(names))
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
			if one := c.find(name); one != nil {
				rows[i] += fmt.Sprintf(" %.2f s, %.0f MB |", median(one.times()).Seconds(), one.peak())
			} else {
				rows[i] += " - |"
			}
		}
		head += " " + thousands(n) + " |"
	}
	table := fmt.Sprintf("Rounds: %d, in memory. Seconds, and MB of memory at the most.\n\n%s\n|---|%s\n", rounds, head, strings.Repeat("---:|", len(sizes)))
	for i, row := range rows {
		table += fmt.Sprintf("| %s |%s\n", names[i], row)
	}
	return b.shown.section("growth", table)
}
