package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/completion"
	"github.com/jitinject/jitinject/internal/record"
)

// Names of files of interest, as patterns of a shell. Objects have none, because a directory may
// have thousands. If no pattern fits, all files are offered.
var (
	recordingPatterns = []string{"*.data", "*.data.old", "*.dump"}
	logPatterns       = []string{"*.mlpd"}
	tracePatterns     = []string{"xray-log.*"}
	capturePatterns   = []string{"*.bin", "*.json"}
	corePatterns      = []string{"core", "core.*", "*.core"}
	alonePatterns     = slices.Concat(logPatterns, tracePatterns, capturePatterns[:1], corePatterns) // after inject's options
	filePatterns      = slices.Concat(recordingPatterns, logPatterns, tracePatterns)
	dumpPatterns      = slices.Concat(recordingPatterns[2:], alonePatterns, []string{"*v8.log", "perf-*.map"})
	anyFile           = []string{"*"}
)

// patternsOf returns the patterns of the files that an option takes.
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
	shells := completion.Shells()
	if fs.NArg() != 1 {
		return refuse(fs, stderr, usageError("completion needs the name of one shell: "+oneOf(shells)))
	}
	script, ok := completion.Script(fs.Arg(0), completed())
	if !ok {
		return refuse(fs, stderr, usageError(fmt.Sprintf("there is no completion for %s; use %s%s", typed(fs.Arg(0)), oneOf(shells), didYouMean(fs.Arg(0), shells))))
	}
	return printText(stdout, stderr, script)
}

// completed returns the table of commands as scripts of shells need it.
func completed() (all []completion.Command) {
	for _, c := range commands() {
		of := completion.Command{Name: c.name, Brief: c.brief, Args: c.argument()}
		for _, f := range visible(c.options()) {
			t := f.Value.Type()
			repeats := t == "count" || strings.HasSuffix(t, "Array") || strings.HasSuffix(t, "Slice")
			of.Options = append(of.Options, completion.Option{Short: f.Shorthand, Long: f.Name, Text: plain(f), Repeats: repeats, Value: valueOf(f)})
		}
		of.Options = append(of.Options, completion.PerfOptions(c.name)...)
		all = append(all, of)
	}
	return all
}

// valueOf describes the value that an option takes.
func valueOf(f *pflag.Flag) completion.Value {
	v := completion.Value{Kind: completion.Text}
	v.Name, _ = pflag.UnquoteUsage(f)
	words, _ := values(f)
	switch {
	case f.Value.Type() == "bool" || f.Value.Type() == "count":
		v.Kind = completion.None
	case f.NoOptDefVal != "":
		v.Kind = completion.Optional
	case len(words) > 0:
		v.Kind, v.Words = completion.Word, words
	case f.Name == "runtime":
		v.Kind, v.Words = completion.Word, record.Runtimes()
	case v.Name == "NAME": // of a result
		v.Kind, v.Words = completion.File, recordingPatterns[:1]
	case v.Name == "FILE", v.Name == "[PID=]FILE":
		v.Kind, v.Words = completion.File, patternsOf(f)
	case v.Name == "DIR":
		v.Kind = completion.Dir
	}
	return v
}

// argument describes the arguments after a command's options.
func (c *subcommand) argument() completion.Value {
	v := completion.Value{Name: c.args}
	switch {
	case c.words != nil:
		v.Kind, v.Words = completion.Word, c.words()
	case c.name == "record":
		v.Kind = completion.Program
	case c.name == "inject":
		v.Kind, v.Words = completion.File, alonePatterns
	case c.name == "dump":
		v.Kind, v.Words = completion.File, dumpPatterns
	case strings.Contains(c.args, "FILE"):
		v.Kind, v.Words = completion.File, filePatterns
	case strings.Contains(c.args, "DIR"):
		v.Kind = completion.Dir
	}
	return v
}

// plain returns the text about an option as a line without the marks of pflag, and without the
// name of its value in front: that stands after the option.
func plain(f *pflag.Flag) string {
	name, text := pflag.UnquoteUsage(f)
	return strings.TrimPrefix(text, name+": ")
}
