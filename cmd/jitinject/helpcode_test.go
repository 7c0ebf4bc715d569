package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/manual"
	"github.com/jitinject/jitinject/internal/testrec"
)

var (
	// commandLine is how a line begins that people type; other code is tables and output.
	commandLine = regexp.MustCompile(`^(sudo |export )?([A-Za-z_]+=\S+ )*(perf|jitinject|go|debuginfod|clang\+\+|unshare|tar|export|jcmd|gcore|rm|\\) `)
	otherCode   = regexp.MustCompile(`^(offset size|id +record|in each entry|FILE: this|FILE:OFFSET:|\{"file":|#define |[A-Za-z_, ]*\w  +\w)`)
)

// codeOf returns the blocks of code of a page.
func codeOf(p *manual.Page) (blocks []string) {
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if b.Kind == manual.Code && s.Title != "SYNOPSIS" {
				blocks = append(blocks, b.Text)
			}
		}
	}
	return blocks
}

// What stands on a page as a command can be typed as it stands there: lines that go on
// say so, and none is too long for a terminal.
func TestHelp_CommandsCanBeTyped(t *testing.T) {
	bash := testrec.Tool(t, "bash")
	commands := 0
	for _, name := range helpWords() {
		p, ok := helpText(name)
		if !ok {
			continue
		}
		for _, block := range codeOf(p) {
			if otherCode.MatchString(block) {
				continue
			}
			goesOn := false
			for line := range strings.Lines(block) {
				line = strings.TrimSuffix(line, "\n")
				if n := 6 + utf8.RuneCountInString(line); n > 80 {
					t.Errorf("%s: %d columns: %s", name, n, line)
				}
				switch indented := strings.HasPrefix(line, " "); {
				case line == "":
				case indented != goesOn:
					t.Errorf("%s: the line before this one does not say whether it goes on: %s", name, line)
				case !indented && !commandLine.MatchString(line+" "):
					t.Errorf("%s: no command, and no table that is known: %s", name, line)
				case !indented:
					commands++
				}
				goesOn = strings.HasSuffix(line, `\`) || strings.HasSuffix(line, "|") || strings.HasSuffix(line, "&&")
			}
			if goesOn {
				t.Errorf("%s: nothing follows\n%s", name, block)
			}
			if out, err := testrec.Command(t, t.TempDir(), bash, "-n", "-c", block).CombinedOutput(); err != nil {
				t.Errorf("%s: unexpected error: %v\n%s\n%s", name, err, out, block)
			}
			if shown := manual.Text([]manual.Section{{Blocks: []manual.Block{{Kind: manual.Code, Text: block}}}}, 40); strings.Count(shown, "\n") != strings.Count(block, "\n")+1 {
				t.Errorf("%s: shown as\n%s", name, shown)
			}
		}
	}
	if commands < 30 {
		t.Errorf("only %d commands", commands)
	}
}

// The commands that record calls are the same in the help and in the documents.
func TestHelp_AgreesWithDocs(t *testing.T) {
	b, err := os.ReadFile("../../docs/xray.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := manual.Parse(string(b))
	var inDoc, inHelp []string
	for _, title := range []string{"Build", "Record, inject, look"} {
		if s := section(doc, title); s != nil {
			for _, code := range codeOf(&manual.Page{Sections: []manual.Section{*s}}) {
				inDoc = append(inDoc, strings.Split(code, "\n")...)
			}
		}
	}
	p, _ := helpText("xray")
	for _, code := range codeOf(p) {
		inHelp = append(inHelp, strings.Split(code, "\n")...)
	}
	inHelp = slices.DeleteFunc(inHelp, func(line string) bool { return line == "" })
	if !slices.Equal(inHelp, inDoc) || len(inHelp) < 5 {
		t.Errorf("help xray has\n%s\nand the document\n%s", strings.Join(inHelp, "\n"), strings.Join(inDoc, "\n"))
	}
}

// Who has no sources gets what programs are linked with.
func TestHelp_Recorder(t *testing.T) {
	code, stdout, stderr := command(t, t.TempDir(), "help", "recorder")
	if code != exitOK || stderr != "" || !strings.Contains(stdout, "__xray_log_init_mode") || stdout != recorder {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
	if _, all, _ := command(t, t.TempDir(), "help"); !strings.Contains(all, ", recorder\n") {
		t.Error("help does not name it")
	}
}
