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

// filePatterns are what files of interest are called: recordings, dumps and objects.
var filePatterns = []string{"*.data", "*.data.old", "*.dump", "jitted-*.so", "jitbundle-*.so"}

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
	if _, err := io.WriteString(stdout, script); err != nil {
		complain(stderr, err)
		return exitFailed
	}
	return exitOK
}

// A taker says what is completed behind an option, or in place of an argument.
type taker int

const (
	takesNothing taker = iota
	takesText          // that nobody can guess
	takesWord          // one of a few
	takesFile
	takesDir
)

// takes says what an option takes.
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
	case name == "FILE":
		return takesFile, nil
	case name == "DIR":
		return takesDir, nil
	}
	return takesText, nil
}

// takesArgs says what stands behind a command's options.
func (c *subcommand) takesArgs() (taker, []string) {
	switch {
	case c.words != nil:
		return takesWord, c.words()
	case strings.Contains(c.args, "FILE"):
		return takesFile, nil
	case strings.Contains(c.args, "DIR"):
		return takesDir, nil
	}
	return takesNothing, nil
}

// plain is the text about an option as a line without the marks of pflag.
func plain(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	return text
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
