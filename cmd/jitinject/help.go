package main

import (
	"embed"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/manual"
	"github.com/jitinject/jitinject/internal/terminal"
)

// helpFiles are the texts about commands and topics, in the markdown of package
// manual. Options and synopses are not in them: they come from the table of commands.
//
//go:embed help/*.md
var helpFiles embed.FS

// recorder is a source file that people link into programs to have XRay write traces. It is
// printed, for who has a package of this has no sources of it.
//
//go:embed help/recorder.cc
var recorder string

const (
	recorderTopic = "recorder"
	recorderBrief = "C++ that has any program write an XRay trace: `jitinject help recorder >recorder.cc`"
)

// helpText returns the page of a command or topic, as far as it is written there.
func helpText(name string) (page *manual.Page, ok bool) {
	b, err := helpFiles.ReadFile("help/" + name + ".md")
	if err != nil {
		return &manual.Page{}, false
	}
	return manual.Parse(string(b)), true
}

// topics returns the names of what is explained beside the commands, sorted.
func topics() (names []string) {
	files, err := helpFiles.ReadDir("help")
	if err != nil {
		return nil
	}
	for _, f := range files {
		if name := strings.TrimSuffix(f.Name(), path.Ext(f.Name())); findCommand(name) == nil {
			names = append(names, name)
		}
	}
	return names
}

func helpWords() (words []string) {
	for _, c := range commands() {
		words = append(words, c.name)
	}
	return append(append(words, topics()...), recorderTopic)
}

func commandPage(c *subcommand) *manual.Page {
	p, ok := helpText(c.name)
	if p.Name == "" {
		p.Name, p.Section, p.Brief = "jitinject-"+c.name, "1", c.brief
	}
	if !ok {
		p.Sections = []manual.Section{{Blocks: []manual.Block{{Text: strings.ToUpper(c.brief[:1]) + c.brief[1:] + "."}}}}
	}
	if p.Sections[0].Title == "" {
		p.Sections[0].Title = "DESCRIPTION"
	}
	if section(p, "SYNOPSIS") == nil {
		p.Sections = slices.Insert(p.Sections, 0, manual.Section{Title: "SYNOPSIS", Blocks: []manual.Block{{Kind: manual.Code, Text: c.synopsis("jitinject")}}})
	}
	if section(p, "OPTIONS") == nil {
		at := 1 + slices.IndexFunc(p.Sections, func(s manual.Section) bool { return s.Title == "DESCRIPTION" })
		p.Sections = slices.Insert(p.Sections, max(1, at), manual.Section{Title: "OPTIONS"})
	}
	options := section(p, "OPTIONS")
	options.Blocks = append(options.Blocks, optionBlocks(c)...)
	if s := section(p, "COMMANDS"); s != nil {
		s.Blocks = append(s.Blocks, commandBlocks()...)
	}
	if s := section(p, "TOPICS"); s != nil {
		s.Blocks = append(s.Blocks, topicBlocks()...)
	}
	if section(p, "SEE ALSO") == nil {
		p.Sections = append(p.Sections, manual.Section{Title: "SEE ALSO", Blocks: []manual.Block{{Text: seeAlso(p.Name)}}})
	}
	return p
}

// seeAlso names the pages of all commands but one, and of the format.
func seeAlso(but string) string {
	var pages []string
	for _, c := range commands() {
		name := "jitinject-" + c.name
		if c.name == "inject" {
			name = "jitinject"
		}
		if c.flags != nil && name != but {
			pages = append(pages, "`"+name+"`(1)")
		}
	}
	return strings.Join(append(pages, "`jitdump`(5)"), ", ")
}

// section returns the part of a page with a title, or nil.
func section(p *manual.Page, title string) *manual.Section {
	for i := range p.Sections {
		if strings.EqualFold(p.Sections[i].Title, title) {
			return &p.Sections[i]
		}
	}
	return nil
}

// optionBlock returns an option as a definition of a page.
func optionBlock(f *pflag.Flag) manual.Block {
	term, text := "`--"+f.Name+"`", plain(f)
	if t := f.Value.Type(); t != "bool" && t != "count" {
		name, _ := pflag.UnquoteUsage(f)
		words := strings.Split(name, "|")
		for i, word := range words {
			if word == strings.ToUpper(word) && strings.Trim(word, "0123456789") != "" {
				words[i] = "*" + word + "*"
			} else {
				words[i] = "`" + word + "`"
			}
		}
		if value := strings.Join(words, "|"); f.NoOptDefVal != "" {
			term += "[=" + value + "]"
		} else {
			term += " " + value
		}
	}
	if f.Shorthand != "" {
		term = "`-" + f.Shorthand + "`, " + term
	}
	if !slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) {
		text += " (default: " + f.DefValue + ")"
	}
	return manual.Block{Kind: manual.Definition, Term: term, Text: text}
}

func commandBlocks() (blocks []manual.Block) {
	for _, c := range commands() {
		blocks = append(blocks, manual.Block{Kind: manual.Definition, Term: "`" + c.name + "`", Text: c.brief})
	}
	return blocks
}

func topicBlocks() (blocks []manual.Block) {
	for _, name := range topics() {
		p, _ := helpText(name)
		blocks = append(blocks, manual.Block{Kind: manual.Definition, Term: "`" + name + "`", Text: p.Brief})
	}
	return append(blocks, manual.Block{Kind: manual.Definition, Term: "`" + recorderTopic + "`", Text: recorderBrief})
}

func commandHelp(c *subcommand, program string, width int) string {
	p := commandPage(c)
	sections := slices.DeleteFunc(p.Sections, func(s manual.Section) bool { return s.Title == "SYNOPSIS" })
	return "usage: " + c.synopsis(program) + "\n\n" + manual.Text(sections, width)
}

// overview is what help prints, on one screen: what most people need first, then all commands, and
// the names of the topics.
func overview(program string, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %[1]s [inject] [options]\n       %[1]s COMMAND [options] [FILE...]\n\n", program)
	for _, first := range [][2]string{
		{"record node app.js", "record a program, and name its hot functions"},
		{"report", "perf report of the result, in seconds"},
		{"view", "a page: flame graph, functions, source"},
	} {
		fmt.Fprintf(&b, "  %-*s  %s\n", len(program)+len(" record node app.js"), program+" "+first[0], first[1])
	}
	b.WriteString("\n")
	names := append(topics(), recorderTopic)
	b.WriteString(manual.Text([]manual.Section{
		{Blocks: []manual.Block{
			{Text: "Step by step, in place of perf inject --jit:"},
			{Kind: manual.Code, Text: "perf record -k mono -g node --perf-prof app.js\n" + program},
		}},
		{Title: "Commands (" + program + " help COMMAND):", Blocks: commandBlocks()},
		{Title: "Topics (" + program + " help TOPIC):", Blocks: []manual.Block{{Text: strings.Join(names, ", ")}}},
	}, width))
	return b.String()
}

func runHelp(args []string, stdout *os.File, stderr io.Writer) int {
	fs := newFlagSet("help")
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	width := terminal.Width(stdout)
	if fs.NArg() == 0 {
		return printPaged(stdout, stderr, overview(programName(stderr), width))
	}
	if fs.NArg() > 1 {
		return refuse(fs, stderr, usageError(fmt.Sprintf("%q: help takes one command or topic", fs.Arg(1))))
	}
	name := fs.Arg(0)
	if c := findCommand(name); c != nil {
		return printPaged(stdout, stderr, commandHelp(c, programName(stderr), width))
	}
	if name == recorderTopic {
		return printText(stdout, stderr, recorder)
	}
	if slices.Contains(topics(), name) {
		p, _ := helpText(name)
		return printPaged(stdout, stderr, manual.Text(p.Sections, width))
	}
	meant := didYouMean(name, helpWords())
	if slices.Contains(perfCommands, name) {
		meant = "; it is one of perf: perf help " + name
	}
	return refuse(fs, stderr, usageError(fmt.Sprintf("there is no command or topic %s%s", typed(name), meant)))
}
