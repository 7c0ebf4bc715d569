package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// The commands that read results. The name of the result's program follows.
const (
	report      = "perf report --stdio, of "
	annotate    = "perf annotate --stdio -s HOTTEST, of "
	sourceLines = "perf script -F +srcline, of "
)

// readers measures the time of perf's readers for the results of the injectors.
// One recording is real, of a program with source lines. The other is made up,
// with samples in several hundred functions.
func (b *bench) readers(m *medium) error {
	for _, r := range []struct {
		name, what string
		recording  recording
	}{
		// Not node's: there, addr2line is at work on node itself for minutes.
		{"readers-erlang", "Time that perf takes to read the results of Erlang's recording.", erlangRecording()},
		{"readers-functions", "Time that perf takes to read the results of a made-up recording of 10,000 functions, 500 of them with samples.", madeRecording(10_000)},
	} {
		if err := b.read(m, r.name, r.what, r.recording); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (b *bench) read(m *medium, name, what string, r recording) error {
	c := &contest{recording: r, medium: m, rounds: cmp.Or(b.rounds, 3)}
	var byReader [3][]*contestant
	for _, maker := range b.injectors(byDefault, bundle, perfInject) {
		if err := m.fresh(r); err != nil {
			return err
		}
		if _, err := maker.run(m.work()); err != nil {
			return err
		}
		file := ourResult
		if maker.name == perfInject {
			file = perfResult
		}
		symbol, err := hottest(m.work(), file)
		if err != nil {
			return err
		}
		kept := m.path("results", maker.name)
		if err := os.MkdirAll(m.path("results"), 0o755); err != nil {
			return err
		}
		if err := os.Rename(m.work(), kept); err != nil {
			return err
		}
		for i, args := range [][]string{
			{report, "perf", "report", "--stdio", "-i", file},
			{annotate, "perf", "annotate", "--stdio", "-i", file, "-s", symbol},
			{sourceLines, "perf", "script", "-F", "+srcline", "-i", file},
		} {
			byReader[i] = append(byReader[i], &contestant{name: args[0] + maker.name, run: func(dir string) (result, error) {
				return inPlace(dir, kept, func() (result, error) { return run(dir, args[1:]...) })
			}})
		}
	}
	c.contestants, c.group = slices.Concat(byReader[:]...), len(byReader[0])
	if err := b.show(c, name, fmt.Sprintf("%s Rounds: %d, %s.", what, c.rounds, m.name())); err != nil {
		return err
	}
	return os.RemoveAll(m.path("results"))
}

// inPlace does something while a directory that was renamed is where it was made:
// perf.data names the objects by their paths.
func inPlace(work, kept string, do func() (result, error)) (r result, err error) {
	if err := errors.Join(os.RemoveAll(work), os.Rename(kept, work)); err != nil {
		return r, err
	}
	r, err = do()
	return r, errors.Join(err, os.Rename(work, kept), os.Mkdir(work, 0o755))
}

// hottest returns the symbol that most samples are in.
func hottest(dir, file string) (string, error) {
	cmd := exec.Command("perf", "report", "--stdio", "--no-children", "-g", "none", "-F", "sym", "-i", file)
	cmd.Dir, cmd.Env = dir, environment(dir)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("perf report: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if symbol, ok := strings.CutPrefix(strings.TrimSpace(line), "[.] "); ok && !strings.HasPrefix(symbol, "0x") {
			return symbol, nil
		}
	}
	return "", errors.New("perf report shows no symbol")
}
