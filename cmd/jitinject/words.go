package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
)

// The engine names its settings in messages. Here they are options.

// fieldOptions has the options that set fields of the engine's.
var fieldOptions = map[string]string{
	"Input": "-i", "Output": "-o", "Compress": "-z", "Force": "-f", "Strict": "--strict", "Objects": "--objects", "Sources": "--sources", "SourceMaps": "--source-maps", "BuildIDCache": "--buildid-cache",
	"DumpDirs": "--dump-dir", "Clock": "--clock", "CodeFrom": "--code-from", "Live": "--live", "Programs": "--xray-binary", "PID": "--pid",
}

// kindOptions has the options that name side files.
var kindOptions = map[string]string{"": "--dump", formats.Mono: "--mono", formats.XRay: "--xray", formats.J9: "--j9", formats.PerfMap: "--map"}

func init() { report.NameSettings(inOptions) }

func inOptions(s report.Setting) string {
	option, known := fieldOptions[s.Field]
	if s.Field == "SideFiles" {
		option, known = kindOptions[s.Kind]
	}
	switch {
	case !known && s.Field == "SideFiles": // named without an option
		return quote.Printable(s.Value)
	case !known:
		return "Options." + s.Field
	}
	value := quote.Printable(s.Value)
	if s.Again || s.PID == "PID" {
		value = quote.ShellWord(s.Value)
	}
	if s.PID != "" {
		value = s.PID + "=" + value
	}
	switch {
	case value == "":
		return option
	case s.Field == "BuildIDCache":
		return option + "=" + value
	}
	return option + " " + value
}

// again returns the command of a run with another setting, and with the names of files that it was given.
func (o *options) again(s report.Setting) string {
	line := "jitinject"
	if o.Input != "perf.data" && s.Field != "Input" {
		line += " -i " + quote.ShellWord(o.Input)
	}
	if o.Output != defaultOutput && o.Output != "-" { // a terminal gets no recording
		line += " -o " + quote.ShellWord(o.Output)
	}
	return line + " " + inOptions(s)
}

// inCommand returns advice with the command that has the option which it names: verify prints advice about
// another command.
func inCommand(advice, command string) string {
	before, after, found := strings.Cut(advice, " --")
	option, _, _ := strings.Cut(after, " ")
	flag := newFlags(new(options)).Lookup(strings.TrimRight(option, ",;"))
	if !found || flag == nil || strings.Contains(before, "jitinject") {
		return advice
	}
	if after == option {
		value, _ := pflag.UnquoteUsage(flag)
		after += " " + value
	}
	return before + " " + command + " --" + after
}

// withName returns an error about a file with its name, once.
func withName(file string, err error) string {
	return report.Once(quote.Printable(file) + ": " + quote.Printable(err.Error()))
}

// nameOnce omits repeated names of files in all texts of a summary.
func nameOnce(s *report.Summary) {
	for i := range s.Notes {
		s.Notes[i] = report.Once(s.Notes[i])
	}
	for i := range s.Problems {
		s.Problems[i].Text = report.Once(s.Problems[i].Text)
	}
	for i := range s.Reasons {
		s.Reasons[i].Text = report.Once(s.Reasons[i].Text)
	}
}
