package main

import (
	"strings"

	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/quote"
)

// Messages of the engine mention fields of its Options. Here they get the names of options.

// fieldOptions has the options that set fields of the engine's.
var fieldOptions = map[string]string{
	"Input": "-i", "Output": "-o", "Compress": "-z", "Force": "-f", "Strict": "--strict", "Objects": "--objects", "Sources": "--sources", "SourceMaps": "--source-maps", "BuildIDCache": "--buildid-cache",
	"DumpDirs": "--dump-dir", "Clock": "--clock", "CodeFrom": "--code-from", "Live": "--live", "Programs": "--xray-binary", "PID": "--pid",
}

// kindOptions has the options that name side files.
var kindOptions = map[string]string{"": "--dump", engine.KindMono: "--mono", engine.KindXRay: "--xray", engine.KindJ9: "--j9", engine.KindPerfMap: "--map"}

// inWords replaces the fields that a message of the engine mentions by options.
func (o *options) inWords(message string) string {
	return engine.ReplaceMentions(message, func(m engine.Mention) string {
		option, known := fieldOptions[m.Field]
		if m.Field == "SideFiles" {
			option, known = kindOptions[m.Kind]
		}
		if !known && m.Field == "SideFiles" { // named without an option
			return quote.Printable(m.Value)
		}
		if !known {
			return "Options." + m.Field
		}
		value := quote.Printable(m.Value)
		if m.Again || m.PID == "PID" {
			value = quote.ShellWord(m.Value)
		}
		if m.PID != "" {
			value = m.PID + "=" + value
		}
		switch {
		case value == "":
		case m.Field == "BuildIDCache":
			option += "=" + value
		default:
			option += " " + value
		}
		if m.Again {
			return o.commandLine(m.Field) + " " + option
		}
		return option
	})
}

// withName returns an error about a file with its name, once.
func withName(file string, err error) string {
	return (&options{}).inWords(quote.Printable(file) + ": " + quote.Printable(err.Error()))
}

// commandLine is the command with the names of files that it was given, but without that of a field.
func (o *options) commandLine(field string) string {
	var line strings.Builder
	line.WriteString("jitinject")
	if o.input != "perf.data" && field != "Input" {
		line.WriteString(" -i " + quote.ShellWord(o.input))
	}
	if o.output != defaultOutput {
		line.WriteString(" -o " + quote.ShellWord(o.output))
	}
	return line.String()
}

// putInWords replaces fields by options in all texts of a summary.
func (o *options) putInWords(s *engine.Summary) {
	for i := range s.Notes {
		s.Notes[i] = o.inWords(s.Notes[i])
	}
	for i := range s.Problems {
		p := &s.Problems[i]
		p.Text, p.Advice = o.inWords(p.Text), o.inWords(p.Advice)
	}
	for i := range s.Reasons {
		r := &s.Reasons[i]
		r.Text, r.Advice = o.inWords(r.Text), o.inWords(r.Advice)
	}
	for i := range s.Dumps {
		d := &s.Dumps[i]
		d.Note, d.Frames = o.inWords(d.Note), o.inWords(d.Frames)
	}
}
