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

func runCompletion(args []string, stdout *os.File, stderr io.Writer) int {
	fs := newFlagSet("completion")
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	shells := completion.Shells()
	if fs.NArg() != 1 {
		return refuse(fs, stderr, usageError("completion needs the name of one shell: "+oneOf(shells)))
	}
	script, ok := completion.Script(fs.Arg(0))
	if !ok {
		return refuse(fs, stderr, usageError(fmt.Sprintf("there is no completion for %s; use %s%s", typed(fs.Arg(0)), oneOf(shells), didYouMean(fs.Arg(0), shells))))
	}
	return printText(stdout, stderr, script)
}

// completeCommand is the command that the scripts run.
const completeCommand = "__complete"

// offered returns what scripts offer for the last of the words of a command line, without the program's name.
func offered(words []string) completion.Value {
	if len(words) < 2 && !strings.HasPrefix(strings.Join(words, ""), "-") {
		var names []string
		for _, c := range commands() {
			names = append(names, c.name+"\t"+c.brief)
		}
		return completion.Value{Kind: completion.Word, Words: names}
	}
	c := findCommand(words[0])
	if c == nil { // inject is meant
		c = &commands()[0]
	} else {
		words = words[1:]
	}
	var options []completion.Option
	for _, f := range visible(c.options()) {
		options = append(options, completion.Option{Short: f.Shorthand, Long: f.Name, Text: plain(f), Value: valueOf(f), Optional: f.NoOptDefVal != ""})
	}
	return completion.Complete(append(options, completion.PerfOptions(c.name)...), c.argument(), words)
}

func valueOf(f *pflag.Flag) completion.Value {
	name, _ := pflag.UnquoteUsage(f)
	list, _ := values(f)
	switch {
	case f.Value.Type() == "bool" || f.Value.Type() == "count":
		return completion.Value{}
	case len(list) > 0:
		return completion.Value{Kind: completion.Word, Words: list}
	case f.Name == "runtime":
		return completion.Value{Kind: completion.Word, Words: record.Runtimes()}
	case name == "NAME": // of a result
		return completion.Value{Kind: completion.File, Words: recordingPatterns[:1]}
	case name == "FILE", name == "[PID=]FILE":
		return completion.Value{Kind: completion.File, Words: patternsOf(f)}
	case name == "DIR":
		return completion.Value{Kind: completion.Dir}
	}
	return completion.Value{Kind: completion.Text}
}

// argument describes the arguments after a command's options.
func (c *subcommand) argument() completion.Value {
	switch {
	case c.words != nil:
		return completion.Value{Kind: completion.Word, Words: c.words()}
	case c.name == "record":
		return completion.Value{Kind: completion.Program}
	case c.name == "inject":
		return completion.Value{Kind: completion.File, Words: alonePatterns}
	case c.name == "dump":
		return completion.Value{Kind: completion.File, Words: dumpPatterns}
	case strings.Contains(c.args, "FILE"):
		return completion.Value{Kind: completion.File, Words: filePatterns}
	case strings.Contains(c.args, "DIR"):
		return completion.Value{Kind: completion.Dir}
	}
	return completion.Value{}
}

// plain returns the text about an option as a line without the marks of pflag, and without the
// name of its value in front: that stands after the option.
func plain(f *pflag.Flag) string {
	name, text := pflag.UnquoteUsage(f)
	return strings.TrimPrefix(text, name+": ")
}
