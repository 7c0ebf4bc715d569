package main

import (
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
	name string
	run  func(dir string) (result, error)
	same bool // it runs in the directory that the one before it has left

	results []result
}

// A contest is a recording on a medium, and how the contestants did.
type contest struct {
	recording   recording
	medium      *medium
	rounds      int
	warm        bool // a first round is run that does not count
	contestants []*contestant
	group       int // so many of them do the same on different results; 0 if all do
}

// hold runs all contestants in turn, each in a fresh directory.
func (c *contest) hold() error {
	for round := range c.rounds + 1 {
		if round == 0 && !c.warm {
			continue
		}
		for i, one := range c.contestants {
			if one.same {
				c.medium.quiesce()
			} else if err := c.medium.fresh(c.recording); err != nil {
				return err
			}
			if err := c.medium.touchMemory(); err != nil {
				return err
			}
			r, err := one.run(c.medium.work())
			if err != nil {
				return err
			}
			if round > 0 {
				one.results = append(one.results, r)
			}
			if i+1 < len(c.contestants) && c.contestants[i+1].same {
				continue
			}
			if err := c.medium.retire(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *contest) find(name string) *contestant {
	for _, one := range c.contestants {
		if one.name == name && len(one.results) > 0 {
			return one
		}
	}
	return nil
}

// ratio returns how many times as long as b a takes, as the median of the rounds.
func ratio(a, b *contestant) float64 {
	var ratios []float64
	for i := range min(len(a.results), len(b.results)) {
		ratios = append(ratios, float64(a.results[i].wall)/float64(b.results[i].wall))
	}
	return median(ratios)
}

// times returns how long each run took.
func (c *contestant) times() []time.Duration {
	var wall []time.Duration
	for _, r := range c.results {
		wall = append(wall, r.wall)
	}
	return wall
}

// peak returns the largest peak memory of all runs, in MB.
func (c *contestant) peak() float64 {
	peak := int64(0)
	for _, r := range c.results {
		peak = max(peak, r.peak)
	}
	return float64(peak) / 1024
}

// table returns a table in Markdown: medians, and how many times as long as the
// first contestant of their group the others take.
func (c *contest) table() string {
	var b strings.Builder
	b.WriteString("| | median | least | most | peak memory | times jitinject |\n|---|---:|---:|---:|---:|---:|\n")
	for i, one := range c.contestants {
		wall := one.times()
		first := 0
		if c.group > 0 {
			first = i - i%c.group
		}
		memory := "-"
		if peak := one.peak(); peak > 0 {
			memory = fmt.Sprintf("%.0f MB", peak)
		}
		fmt.Fprintf(&b, "| %s | %.3f s | %.3f s | %.3f s | %s | %.2f |\n", one.name,
			median(wall).Seconds(), slices.Min(wall).Seconds(), slices.Max(wall).Seconds(), memory, ratio(one, c.contestants[first]))
	}
	return b.String()
}

// median returns the middle of some figures.
func median[T int64 | float64 | time.Duration](v []T) T {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}
