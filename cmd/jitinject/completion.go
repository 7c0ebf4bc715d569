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
		if c.name == "record" {
			of.Options = append(of.Options, perfOptions()...)
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

// perfOptions returns options of perf record for the completion of jitinject record: those in common use,
// and all that have the next word as their value, since the recorded command begins after that.
func perfOptions() (all []completion.Option) {
	for _, o := range []struct{ short, long, value, text string }{
		{"F", "freq", "HZ", "sample at this frequency, or at max"},
		{"c", "count", "N", "sample each N-th event"},
		{"e", "event", "EVENT", "what to sample: see perf list"},
		{"g", "", "", "record stacks by frame pointers"},
		{"", "call-graph", "fp|dwarf|dwarf,16384|lbr", "how to record stacks"},
		{"p", "pid", "PID", "record a running process"},
		{"t", "tid", "TID", "record a running thread"},
		{"u", "uid", "USER", "record the processes of a user"},
		{"a", "all-cpus", "", "record all processes"},
		{"C", "cpu", "LIST", "record these processors"},
		{"G", "cgroup", "NAME", "record a control group"},
		{"k", "clockid", "CLOCK", "the clock of times; mono is the default"},
		{"b", "branch-any", "", "record taken branches"},
		{"j", "branch-filter", "MASK", "record branches of some kinds"},
		{"D", "delay", "MS", "begin to record later"},
		{"m", "mmap-pages", "PAGES", "the size of the buffers"},
		{"r", "realtime", "PRIORITY", "record with a priority of SCHED_FIFO"},
		{"", "filter", "FILTER", "record only events that pass"},
		{"", "all-user", "", "record no events of the kernel"},
		{"", "all-kernel", "", "record events of the kernel only"},
		{"", "namespaces", "", "record namespaces"},
		{"", "max-size", "SIZE", "end the recording at this size"},
		{"", "affinity", "node|cpu", "where the threads of perf run"},
		{"", "control", "FD", "the descriptor of commands to perf"},
		{"", "mmap-flush", "BYTES", "the least that perf takes from a buffer"},
		{"", "num-thread-synthesize", "N", "the number of threads that read /proc"},
		{"", "proc-map-timeout", "MS", "the time to read the mappings of a thread"},
		{"", "synth", "no|all|task|mmap|cgroup", "what to record about running processes"},
		{"", "vmlinux", "FILE", "the image of the kernel"},
	} {
		v := completion.Value{Name: o.value}
		switch {
		case o.value == "FILE":
			v.Kind, v.Words = completion.File, anyFile
		case strings.Contains(o.value, "|"):
			v.Kind, v.Words = completion.Word, strings.Split(o.value, "|")
		case o.value != "":
			v.Kind = completion.Text
		}
		all = append(all, completion.Option{Short: o.short, Long: o.long, Text: o.text, Repeats: o.short == "e", Value: v})
	}
	return all
}
