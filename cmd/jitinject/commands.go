package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/completion"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/nearest"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A subcommand is what the first word of the command line names. The table of them is
// the source of all that is said about them: help, manual pages and completions. What
// is longer than a line stands in help/NAME.md.
type subcommand struct {
	name  string
	args  string                // what stands behind the options
	brief string                // what it does, in a few words
	flags func() *pflag.FlagSet // its options; nil for none
	words func() []string       // what it takes instead of files
	run   func(args []string, stdin, stdout *os.File, stderr io.Writer) int
}

// commands returns the table, in the order of their importance. The first one is
// meant where none is named.
func commands() []subcommand {
	return []subcommand{
		{name: "inject", brief: "put jitted functions into a recording of perf", flags: flagsOf(newFlags), run: runInject},
		{name: "record", args: "[perf record options] [--] COMMAND...", brief: "record a command with the dumps of its runtimes, and inject them", flags: flagsOf(newRecordFlags), run: noInput(runRecord)},
		{name: "view", args: "[FILE]", brief: "make a page of a result: flame graph, functions, source", flags: flagsOf(newPageFlags), run: noInput(runPage)},
		{name: "export", args: "[FILE]", brief: "write a result in the format of another viewer", flags: flagsOf(newExportFlags), run: noInput(runExport)},
		perfView("report", "[perf report options] [FILE]", "show where a program spends its time, with perf"),
		perfView("annotate", "[perf annotate options] [SYMBOL]", "show instructions of functions with their samples, with perf"),
		perfView("script", "[perf script options]", "print samples, with perf"),
		perfView("diff", "[perf diff options] [[OLD_FILE] NEW_FILE]", "compare two runs by function, with perf"),
		{name: "dump", args: "FILE...", brief: "show what dumps, logs and traces hold", flags: flagsOf(newDumpFlags), run: runDump},
		{name: "verify", args: "FILE...", brief: "check dumps, recordings and objects", flags: flagsOf(newVerifyFlags), run: noInput(runVerify)},
		{name: "fetch", args: "FILE...", brief: "get the objects of results from debuginfod servers", flags: flagsOf(newFetchFlags), run: noInput(runFetch)},
		{name: "clean", args: "[FILE...]", brief: "remove the objects of results, and what record made", flags: flagsOf(newCleanFlags), run: noInput(runClean)},
		{name: "help", args: "[COMMAND|TOPIC]", brief: "explain a command, or a topic", words: helpWords, run: noInput(runHelp)},
		{name: "completion", args: "bash|zsh|fish", brief: "print a script that completes command lines in a shell", words: completion.Shells, run: noInput(runCompletion)},
		{name: "man", args: "DIR", brief: "write the manual pages below a directory", run: noInput(runMan)},
		{name: "version", brief: "print the version", run: noInput(runVersion)},
	}
}

// flagsOf returns a command's options without a place that anyone reads.
func flagsOf[O any](build func(*O) *pflag.FlagSet) func() *pflag.FlagSet {
	return func() *pflag.FlagSet { return build(new(O)) }
}

// noInput is a command that reads nothing from standard input.
func noInput(run func(args []string, stdout *os.File, stderr io.Writer) int) func([]string, *os.File, *os.File, io.Writer) int {
	return func(args []string, _, stdout *os.File, stderr io.Writer) int { return run(args, stdout, stderr) }
}

// options returns the options of a command, spelled as perf spells them.
func (c *subcommand) options() *pflag.FlagSet {
	fs := newFlagSet(c.name)
	if c.flags != nil {
		fs = c.flags()
	}
	spell(fs)
	return fs
}

// synopsis is the command line in short, for the program as it was called.
func (c *subcommand) synopsis(program string) string {
	switch {
	case c.name == "inject":
		return program + " [inject] [options] [RECORDING] [LOG|TRACE|CAPTURE|CORE...]"
	case c.flags == nil:
		return strings.TrimRight(program+" "+c.name+" "+c.args, " ")
	}
	return program + " " + c.name + " [options] " + c.args
}

// visible returns the options that are worth a word, in their order.
func visible(fs *pflag.FlagSet) (flags []*pflag.Flag) {
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f)
		}
	})
	return flags
}

// findCommand returns the command of a name, or nil.
func findCommand(name string) *subcommand {
	all := commands()
	if i := slices.IndexFunc(all, func(c subcommand) bool { return c.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// perfCommands are the commands of perf itself.
var perfCommands = strings.Fields(`annotate archive bench buildid-cache buildid-list c2c check config daemon data diff
	evlist ftrace iostat kallsyms kmem kvm kwork list lock mem probe report sched script stat test timechart top trace`)

// notACommand says what may have been meant by a command line whose first word is no option.
func notACommand(args []string) error {
	word := args[0]
	if slices.Contains(perfCommands, word) {
		return usageError(fmt.Sprintf("%s is a command of perf: perf %s", word, word))
	}
	if st, err := sys.Stat(word); err == nil && !st.IsDir() || strings.ContainsAny(word, "./") {
		return unexpectedWord(word, false)
	}
	if _, err := exec.LookPath(word); err == nil {
		return usageError(fmt.Sprintf("there is no command %s; to record a program: jitinject record %s", typed(word), quote.ShellWords(args)))
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if meant := nearest.Word(word, names); meant != "" {
		return usageError(fmt.Sprintf("there is no command %s; did you mean %s?", typed(word), meant))
	}
	if meant := nearest.Word(word, perfCommands); meant != "" && meant[0] == word[0] {
		return usageError(fmt.Sprintf("there is no command %s; did you mean perf %s?", typed(word), meant))
	}
	return usageError(fmt.Sprintf("there is no command %s", typed(word)))
}

// unexpectedWord says how files are named.
func unexpectedWord(word string, inputNamed bool) error {
	if findCommand(word) != nil {
		return usageError(fmt.Sprintf("%s is a command and must come before all options: jitinject %s", word, word))
	}
	switch kind := formats.Identify(word); kind {
	case formats.Jitdump, formats.ELF:
		return usageError(fmt.Sprintf("%s is %s: %s", typed(word), formats.Name(kind), placeOf(kind)))
	}
	if missing := otherOfCapture(word); missing != "" {
		return usageError(fmt.Sprintf("%s: a capture of OpenJ9's metadata needs %s in the same directory, which is missing; name a recording with -i", typed(word), typed(filepath.Base(missing))))
	}
	if err := formats.Unidentified(word); err != nil {
		return wrongFile(fmt.Sprintf("%s: cannot read it: %v", typed(word), err))
	}
	st, err := sys.Stat(word)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text := fmt.Sprintf("there is no file %s", typed(word))
		if inputNamed {
			text += fmt.Sprintf("; to name the result: jitinject -o %s", typed(word))
		}
		return usageError(text)
	case err == nil && st.Mode().IsRegular() && st.Size() == 0:
		return usageError(fmt.Sprintf("%s is empty: its program has not written it, or the disk was full", typed(word)))
	case err == nil && st.Mode()&fs.ModeNamedPipe != 0:
		return usageError(fmt.Sprintf("%s is a FIFO; to read a recording from it: jitinject -i %s", typed(word), typed(word)))
	case formats.Unpacker(word) != "":
		return usageError(fmt.Sprintf("%s is compressed; unpack it with %s", typed(word), formats.Unpacker(word)))
	}
	return usageError(fmt.Sprintf("%s has an unknown type; jitinject reads recordings, and logs, traces and core dumps of their processes", typed(word)))
}

func runVersion(args []string, stdout *os.File, stderr io.Writer) int {
	fs := newFlagSet("version")
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	if fs.NArg() > 0 {
		return refuse(fs, stderr, usageError(fmt.Sprintf("%q: version takes nothing", fs.Arg(0))))
	}
	return printText(stdout, stderr, versionText())
}
