package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A result is one run of something.
type result struct {
	wall time.Duration
	peak int64 // kilobytes of memory at the most; 0 where it was not measured
}

// A contestant is one way to get work done.
type contestant struct {
	name    string
	prepare []string                         // a command that is not measured, or nil
	args    []string                         // the command
	plain   func(dir string) (result, error) // in place of the command, or nil

	took []time.Duration // of all rounds
	peak float64         // of all rounds, in MB; 0 where it was not measured
}

// A contest is what contestants did on the same recording.
type contest []*contestant

// contest runs all contestants in turn, each in a fresh directory, and shows the table. In memory, a first
// round does not count.
func (b *bench) contest(m *medium, name, what string, c contest) error {
	for round := range b.rounds + 1 {
		if round == 0 && m.disk {
			continue
		}
		for _, one := range c {
			done, err := m.try(one)
			if err != nil {
				return err
			}
			if round > 0 {
				one.took = append(one.took, done.wall)
				one.peak = max(one.peak, float64(done.peak)/1024)
			}
		}
	}
	if m.disk {
		name += "-disk"
	}
	for _, one := range c {
		one.plain = nil // it holds on to all objects
	}
	b.held[name] = c
	return b.section(name, fmt.Sprintf("%s Rounds: %d, %s.\n\n%s", what, b.rounds, m.where(), c.table()))
}

func (c contest) find(name string) *contestant {
	for _, one := range c {
		if one.name == name && len(one.took) > 0 {
			return one
		}
	}
	return nil
}

// table returns a table in Markdown: medians, and how many times as long as the first contestant the
// others take.
func (c contest) table() string {
	var b strings.Builder
	b.WriteString("| | median | least | most | peak memory | times jitinject |\n|---|---:|---:|---:|---:|---:|\n")
	for _, one := range c {
		memory := "-"
		if one.peak > 0 {
			memory = fmt.Sprintf("%.0f MB", one.peak)
		}
		fmt.Fprintf(&b, "| %s | %.3f s | %.3f s | %.3f s | %s | %.2f |\n", one.name,
			median(one.took).Seconds(), slices.Min(one.took).Seconds(), slices.Max(one.took).Seconds(), memory, ratio(one, c[0]))
	}
	return b.String()
}

// ratio returns how many times as long as b a takes, as the median of the rounds.
func ratio(a, b *contestant) float64 {
	var ratios []float64
	for i := range a.took {
		ratios = append(ratios, float64(a.took[i])/float64(b.took[i]))
	}
	return median(ratios)
}

// median returns the middle of some figures.
func median[T cmp.Ordered](v []T) T {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
