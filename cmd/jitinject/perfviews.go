package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/perfcache"
	"github.com/jitinject/jitinject/internal/perfrun"
	"github.com/jitinject/jitinject/internal/record"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/terminal"
	"github.com/jitinject/jitinject/internal/words"
)

// perfView returns the row of a command that is perf's of the same name, on a result.
func perfView(name, args, brief string) subcommand {
	return subcommand{name: name, args: args, brief: brief,
		flags: func() *pflag.FlagSet { return newViewFlags(name) },
		run:   noInput(func(args []string, stdout *os.File, stderr io.Writer) int { return runView(name, args, stdout, stderr) })}
}

// newViewFlags describes the options with a default that is not perf's. perf reads them.
func newViewFlags(name string) *pflag.FlagSet {
	fs := newFlagSet(name)
	if name == "diff" {
		fs.StringP("sort", "s", "sym", "compare by these `KEYS`, with commas")
	} else {
		fs.StringP("input", "i", defaultOutput, "show the recording `FILE`")
	}
	return fs
}

// runView is the commands report, annotate, script and diff. It returns only if perf was not started.
func runView(name string, args []string, stdout *os.File, stderr io.Writer) int {
	if len(args) > 0 && slices.Contains([]string{"-h", "--help"}, args[0]) {
		return printText(stdout, stderr, commandHelp(findCommand(name), programName(stderr), terminal.Width(stdout)))
	}
	ending, err := startView(name, args, stderr)
	if err != nil {
		return fail(stderr, err)
	}
	ending.End()
	return ending.Code
}

// startView runs perf until it ends.
func startView(name string, args []string, stderr io.Writer) (perfrun.Ending, error) {
	perf, err := record.FindPerf()
	if err != nil {
		return perfrun.Ending{}, err
	}
	view := perfrun.View{Perf: perf, Command: name, Typed: args}
	defaults := view.Defaults(defaultOutput)
	input, last := "", len(args)-1
	switch at := slices.Index(args, "-i"); {
	case name == "diff":
	case at >= 0 && at < last:
		input = args[at+1]
	case defaults != nil && last >= 0 && formats.Identify(args[last]) == formats.Recording: // perf takes it for a symbol
		input, defaults, view.Typed = args[last], nil, slices.Insert(slices.Clone(args), last, "-i")
	case defaults != nil:
		input = defaultOutput
	}
	for _, file := range defaults {
		if _, err := sys.Stat(file); errors.Is(err, os.ErrNotExist) {
			if file == defaultOutput+".old" { // record keeps no earlier result: its objects would have the names of the new ones
				return perfrun.Ending{}, fmt.Errorf("there is no %s; to compare two results, give each a name: jitinject record -o a.data COMMAND, jitinject record -o b.data COMMAND, then jitinject diff a.data b.data", file)
			}
			return perfrun.Ending{}, fmt.Errorf("there is no %s; to make it: jitinject record COMMAND, or jitinject after perf record -k mono", file)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return perfrun.Ending{}, err
	}
	ending, err := perfrun.Run(perf, self, view.Arguments(defaultOutput), stderr)
	if err == nil && ending.Code == 0 && input != "" {
		writeMissing(input, stderr)
	}
	return ending, err
}

// writeMissing says how many objects of a result are gone. perf shows addresses then.
func writeMissing(input string, stderr io.Writer) {
	cache, _ := perfcache.Find()
	absent, all, err := objstore.Absent(context.Background(), input, cache)
	if err == nil && absent > 0 {
		fmt.Fprintf(stderr, "jitinject: note: objects that are not there: %s of %s; their functions have no names; inject again, or bring them along\n", words.Number(int64(absent)), words.Number(int64(all)))
	}
}
