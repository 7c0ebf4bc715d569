package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// shells are those whose completion there is.
func shells() []string { return []string{"bash", "zsh", "fish"} }

// What files of interest are called, as patterns of a shell. Objects are not among them: a
// directory may have thousands, and who wants one begins to type its name; where nothing
// else fits, everything is offered.
var (
	recordingPatterns = []string{"*.data", "*.data.old", "*.dump"}
	logPatterns       = []string{"*.mlpd"}
	tracePatterns     = []string{"xray-log.*"}
	capturePatterns   = []string{"*.bin", "*.json"}
	corePatterns      = []string{"core", "core.*", "*.core"}
	alonePatterns     = slices.Concat(logPatterns, tracePatterns, capturePatterns[:1], corePatterns) // behind inject's options
	filePatterns      = slices.Concat(recordingPatterns, logPatterns, tracePatterns)
	anyFile           = []string{"*"}
)

// patternsOf are those of the files that an option takes.
func patternsOf(f *pflag.Flag) []string {
	switch f.Name {
	case "mono":
		return logPatterns
	case "j9":
		return capturePatterns
	case "xray":
		return tracePatterns
	case "xray-binary":
		return anyFile
	case "code-from":
		return corePatterns
	}
	return recordingPatterns
}

// runCompletion is the command completion.
func runCompletion(args []string, stdout *os.File, stderr io.Writer) int {
	fs := newFlagSet("completion")
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	if fs.NArg() != 1 {
		return refuse(fs, stderr, usageError("completion needs the name of one shell: "+oneOf(shells())))
	}
	var script string
	switch shell := fs.Arg(0); shell {
	case "bash":
		script = bashCompletion()
	case "zsh":
		script = zshCompletion()
	case "fish":
		script = fishCompletion()
	default:
		return refuse(fs, stderr, usageError(fmt.Sprintf("there is no completion for %s: it can be %s%s", typed(shell), oneOf(shells()), didYouMean(shell, shells()))))
	}
	return printText(stdout, stderr, script)
}

// A taker says what is completed behind an option, or in place of an argument.
type taker int

const (
	takesNothing taker = iota
	takesText          // that nobody can guess
	takesWord          // one of a few
	takesFile          // with a name of some patterns
	takesDir
)

// takes says what an option takes, with the words or patterns for that.
func takes(f *pflag.Flag) (taker, []string) {
	name, _ := pflag.UnquoteUsage(f)
	words, _ := values(f)
	switch {
	case f.Value.Type() == "bool" || f.Value.Type() == "count":
		return takesNothing, nil
	case f.NoOptDefVal != "":
		return takesNothing, nil // what it takes, it takes after a =
	case len(words) > 0:
		return takesWord, words
	case name == "FILE", name == "[PID=]FILE":
		return takesFile, patternsOf(f)
	case name == "DIR":
		return takesDir, nil
	}
	return takesText, nil
}

// takesArgs says the same of what stands behind a command's options.
func (c *subcommand) takesArgs() (taker, []string) {
	switch {
	case c.words != nil:
		return takesWord, c.words()
	case c.name == "inject":
		return takesFile, alonePatterns
	case strings.Contains(c.args, "FILE"):
		return takesFile, filePatterns
	case strings.Contains(c.args, "DIR"):
		return takesDir, nil
	}
	return takesNothing, nil
}

// plain is the text about an option as a line without the marks of pflag, and without the
// name of its value in front: that stands behind the option.
func plain(f *pflag.Flag) string {
	name, text := pflag.UnquoteUsage(f)
	return strings.TrimPrefix(text, name+": ")
}

// spellings are all the ways to write an option.
func spellings(f *pflag.Flag) []string {
	if f.Shorthand == "" {
		return []string{"--" + f.Name}
	}
	return []string{"-" + f.Shorthand, "--" + f.Name}
}

// singly writes a text for a shell, between single quotes.
func singly(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// commandNames are the words that may come first.
func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	slices.Sort(names)
	return names
}
