package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// How long a user waits: for an injector, and then for the first perf report, script or annotate of
// its result, with the perfs of several releases.

// totalSizes are the numbers of functions of the recordings.
var totalSizes = []int{1_000, 10_000, 31_000, 100_000, 300_000}

// patience is how long a reader may take.
const patience = 100 * time.Second

// An impatience has the commands that have taken too long. They are not tried again with a larger result,
// nor, with byReader, with another injector's result that is as large.
type impatience struct {
	slow     map[string]bool
	byReader bool
}

func (i *impatience) key(injector string, p release, reader string) string {
	if i.byReader {
		injector = ""
	}
	return injector + " " + p.version + " " + reader
}

// totalReaders are the commands that read results.
var totalReaders = []string{"report", "script", "annotate"}

// A wait is the time and the memory of one command; impatient for one that was ended, crashed for one
// that ended itself by a wrong access to memory, tried for one that was run.
type wait struct {
	result
	tried, impatient, crashed bool
}

// String returns the wait as a cell of a table.
func (w wait) String() string {
	switch {
	case !w.tried:
		return "-"
	case w.impatient:
		return fmt.Sprintf("> %.0f s", patience.Seconds())
	case w.crashed:
		return "crashes"
	}
	return fmt.Sprintf("%.2f s, %.0f MB", w.wall.Seconds(), float64(w.peak)/1024)
}

// A release is a perf, with its version.
type release struct{ path, version string }

// releases returns this machine's perf, and those that JITINJECT_PERFS names.
func releases() (list []release) {
	for _, path := range append([]string{"perf"}, filepath.SplitList(os.Getenv("JITINJECT_PERFS"))...) {
		if fields := strings.Fields(version(path, "--version")); len(fields) > 2 {
			list = append(list, release{path, strings.Join(strings.SplitN(fields[2], ".", 3)[:2], ".")})
		}
	}
	return list
}

// total measures recordings of all sizes.
func (b *bench) total(m *medium) error {
	slow := &impatience{slow: make(map[string]bool)}
	text := fmt.Sprintf("Seconds, and MB of memory at the most, %s; the median of up to five runs that take 2 s in all. A reader may take %.0f s.\n", m.name(), patience.Seconds())
	for _, n := range totalSizes {
		table, err := b.totalOf(m, madeRecording(n), n <= perfMost, slow)
		if err != nil {
			return fmt.Errorf("%d functions: %w", n, err)
		}
		table = fmt.Sprintf("\n%s functions:\n\n%s", thousands(n), table)
		fmt.Print(table) // the next one takes minutes
		text += table
	}
	return b.shown.section("total", text)
}

// totalLong and totalHuge measure long recordings with few functions.
func (b *bench) totalLong(m *medium) error {
	return b.totalRepeated(m, "total-long", longSize, &impatience{slow: make(map[string]bool)})
}

func (b *bench) totalHuge(m *medium) error {
	return b.totalRepeated(m, "total-huge", hugeSize, &impatience{slow: make(map[string]bool), byReader: true})
}

func (b *bench) totalRepeated(m *medium, name string, size int64, slow *impatience) error {
	table, err := b.totalOf(m, longRecording(size), true, slow)
	if err != nil {
		return err
	}
	return b.shown.section(name, fmt.Sprintf("Samples of Node.js, repeated to %.0f GB. One round, %s. A reader may take %.0f s.\n\n%s",
		gigabytes(size), m.name(), patience.Seconds(), table))
}

// totalOf measures one recording and returns its table. Commands that take too long are added to slow.
func (b *bench) totalOf(m *medium, r recording, withPerf bool, slow *impatience) (string, error) {
	type row struct {
		injector, perf string
		inject         wait
		readers        []wait
	}
	var rows []row
	perfs := releases()
	makers := []string{byDefault, bundle, sampled}
	if withPerf {
		for _, p := range perfs {
			makers = append(makers, p.path)
		}
	}
	symbol := ""
	for _, name := range makers {
		var maker *contestant
		file, own := ourResult, perfs
		if i := indexOf(perfs, name); i >= 0 {
			maker = command(perfInject, name, "inject", "--jit", "-i", "perf.data", "-o", perfResult)
			file, own = perfResult, perfs[i:i+1]
		} else {
			maker = b.jitinject(name)
		}
		made, err := medianOf(func(round int) (result, error) {
			if round > 0 {
				if err := m.retire(); err != nil {
					return result{}, err
				}
			}
			if err := m.fresh(r); err != nil {
				return result{}, err
			}
			return maker.run(m.work())
		})
		if err != nil {
			return "", err
		}
		if symbol == "" { // the same in all results, but an older perf cannot read what a newer one injects
			if symbol, err = hottest(m.work(), file); err != nil {
				return "", err
			}
		}
		for _, p := range own {
			row := row{injector: maker.name, perf: p.version, inject: wait{result: made, tried: true}}
			for _, reader := range totalReaders {
				key := slow.key(maker.name, p, reader)
				var w wait
				if !slow.slow[key] {
					if w, err = read(m.work(), p.path, reader, file, symbol); err != nil {
						return "", err
					}
					slow.slow[key] = w.impatient
				}
				row.readers = append(row.readers, w)
			}
			rows = append(rows, row)
		}
		if err := m.retire(); err != nil {
			return "", err
		}
	}
	m.forget(r)
	var s strings.Builder
	s.WriteString("| perf | | inject | report | script | annotate | inject and report, times as fast as perf inject |\n|---|---|---:|---:|---:|---:|---:|\n")
	for _, p := range perfs {
		var theirs *row
		for i := range rows {
			if rows[i].perf == p.version && rows[i].injector == perfInject {
				theirs = &rows[i]
			}
		}
		for i := range rows {
			if r := &rows[i]; r.perf == p.version {
				times := ""
				if theirs != nil && r != theirs {
					times = fasterThan(theirs.inject, theirs.readers[0], r.inject, r.readers[0])
				}
				fmt.Fprintf(&s, "| %s | %s | %v | %v | %v | %v | %s |\n", r.perf, r.injector, r.inject, r.readers[0], r.readers[1], r.readers[2], times)
			}
		}
	}
	return s.String(), nil
}

// medianOf measures something up to five times, while that takes less than 2 s in all, and returns the
// run that took the median of the times.
func medianOf(measure func(round int) (result, error)) (result, error) {
	var runs []result
	for all := time.Duration(0); len(runs) < 5 && all < 2*time.Second; {
		r, err := measure(len(runs))
		if err != nil {
			return r, err
		}
		all += r.wall
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b result) int { return cmp.Compare(a.wall, b.wall) })
	return runs[len(runs)/2], nil
}

// indexOf returns the place of a perf in a list, or -1.
func indexOf(perfs []release, path string) int {
	for i, p := range perfs {
		if p.path == path {
			return i
		}
	}
	return -1
}

// fasterThan returns how many times as fast our injector and reader are as others.
func fasterThan(theirInject, theirReader, ourInject, ourReader wait) string {
	switch {
	case !theirReader.tried || !ourReader.tried || ourReader.impatient:
		return "-"
	case theirReader.impatient:
		theirReader.wall = patience
	}
	times := float64(theirInject.wall+theirReader.wall) / float64(ourInject.wall+ourReader.wall)
	if theirReader.impatient {
		return fmt.Sprintf("> %.1f", times)
	}
	return fmt.Sprintf("%.1f", times)
}

// read measures one reader of a result.
func read(dir, perf, reader, file, symbol string) (wait, error) {
	args := []string{"timeout", "-k", "1", fmt.Sprint(patience.Seconds()), perf, reader, "-i", file}
	switch reader {
	case "report":
		args = append(args, "--stdio")
	case "annotate":
		args = append(args, "--stdio", "-s", symbol)
	}
	made, err := medianOf(func(int) (result, error) { return run(dir, args...) })
	var exit *exec.ExitError
	if errors.As(err, &exit) && (strings.Contains(err.Error(), "exit status 124") || strings.Contains(err.Error(), "signal: killed")) {
		return wait{tried: true, impatient: true}, nil
	}
	if errors.As(err, &exit) && strings.Contains(err.Error(), "segmentation fault") {
		return wait{tried: true, crashed: true}, nil
	}
	return wait{result: made, tried: true}, err
}
