package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// ownOptions are options as the command has them.
var ownOptions = map[string]bool{"duration": true, "runtime": true, "no-inlines": false, "output": true, "o": true, "verbose": false, "v": false, "quiet": false, "q": false, "help": false, "h": false}

// syntaxes are those of texts in testdata, from which sentences were removed, and of installed perfs.
func syntaxes(t *testing.T) map[string]*Syntax {
	t.Helper()
	all := make(map[string]*Syntax)
	for _, version := range []string{"6.1", "6.12", "7.2"} {
		b, err := os.ReadFile(filepath.Join("testdata", "record-h-"+version+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		s := parseSyntax(string(b))
		for name, value := range ownOptions {
			s.names[name] = value
		}
		all["text of "+version] = s
	}
	for version, perf := range testrec.Perfs(t) {
		s, err := ReadSyntax(perf, ownOptions)
		if err != nil {
			t.Fatal(err)
		}
		all["perf "+version] = s
	}
	return all
}

// Options with a value, without one, and with one that may be missing, of all perfs.
func TestReadSyntax_ValuesOfOptions(t *testing.T) {
	for version, s := range syntaxes(t) {
		for word, want := range map[string]bool{
			"e": true, "event": true, "F": true, "freq": true, "c": true, "C": true, "p": true, "pid": true, "t": true, "u": true, "k": true, "clockid": true,
			"m": true, "mmap-pages": true, "G": true, "j": true, "D": true, "r": true, "call-graph": true, "filter": true, "max-size": true,
			"affinity": true, "control": true, "proc-map-timeout": true, "mmap-flush": true, "o": true, "duration": true, "runtime": true,
			"a": false, "all-cpus": false, "g": false, "b": false, "d": false, "data": false, "i": false, "s": false, "T": false, "v": false,
			"z": false, "compression-level": false, "aio": false, "I": false, "intr-regs": false, "user-regs": false, "S": false, "snapshot": false,
			"switch-output": false, "threads": false, "debuginfod": false, "overwrite": false, "namespaces": false,
		} {
			if got, known := s.names[word]; !known || got != want {
				t.Errorf("%s: option %s: got value %v, known %v; want value %v", version, word, got, known, want)
			}
		}
		for _, word := range []string{"text", "Usage", "record_mode", "or"} {
			if _, known := s.names[word]; known {
				t.Errorf("%s: %s counts as an option", version, word)
			}
		}
	}
}

// The texts in testdata have the options of installed perfs of the same version.
func TestReadSyntax_TextsAreThoseOfPerfs(t *testing.T) {
	all := syntaxes(t)
	for name, s := range all {
		version, ok := strings.CutPrefix(name, "perf ")
		if !ok {
			continue
		}
		parts := strings.Split(version, ".")
		text := all["text of "+strings.Join(parts[:min(2, len(parts))], ".")]
		if text == nil {
			continue // a newer perf: the other test reads it
		}
		if got, want := fmt.Sprint(s.names), fmt.Sprint(text.names); got != want {
			t.Errorf("%s: got options %s; want %s", name, got, want)
		}
	}
}

func TestSplit_CommandLines(t *testing.T) {
	for version, s := range syntaxes(t) {
		for _, c := range []struct{ line, options, command string }{
			{"node app.js", "", "node app.js"},
			{"-F 99 node app.js", "F=99", "node app.js"},
			{"-F99 node -e 1", "F=99", "node -e 1"},
			{"-gF99 node", "g F=99", "node"},
			{"-gF 99 node", "g F=99", "node"},
			{"-ag -- node -g", "a g", "node -g"},
			{"-ag", "a g", ""},
			{"-agp 12,13 ", "a g p=12,13", ""},
			{"--freq 99 node", "freq=99", "node"},
			{"--freq=99 node", "freq=99", "node"},
			{"--fre 99 node", "freq=99", "node"},
			{"--fre=99 node", "freq=99", "node"},
			{"--call-graph=dwarf node", "call-graph=dwarf", "node"},
			{"--call-graph dwarf,8192 node", "call-graph=dwarf,8192", "node"},
			{"--call dwarf node", "call-graph=dwarf", "node"},
			{"--no-call-graph node", "no-call-graph", "node"},
			{"-z node", "z", "node"},
			{"-z3 node", "z=3", "node"},
			{"-gz node", "g z", "node"},
			{"--compression-level=3 node", "compression-level=3", "node"},
			{"--aio node", "aio", "node"},
			{"--aio=2 node", "aio=2", "node"},
			{"-I node", "I", "node"},
			{"-Iax,bx node", "I=ax,bx", "node"},
			{"--user-regs=ip node", "user-regs=ip", "node"},
			{"-d 5 node", "duration=5", "node"},
			{"-d5 node", "duration=5", "node"},
			{"-d 0.5 node", "duration=0.5", "node"},
			{"-d 2m node", "duration=2m", "node"},
			{"--duration 5 node", "duration=5", "node"},
			{"--duration=5 node", "duration=5", "node"},
			{"--dur 5 node", "duration=5", "node"},
			{"-d node", "d", "node"},
			{"-d 7z x", "d", "7z x"},
			{"-ad 5", "a d", "5"},
			{"-d -- 5", "d", "5"},
			{"--data node", "data", "node"},
			{"-e cycles:u -e instructions node -e x", "e=cycles:u e=instructions", "node -e x"},
			{"-e cycles --filter x -- --version", "e=cycles filter=x", "--version"},
			{"-D -1 node", "D=-1", "node"},
			{"-o out.data node -o x", "o=out.data", "node -o x"},
			{"-oout.data node", "o=out.data", "node"},
			{"--output=a=b node", "output=a=b", "node"},
			{"--runtime node,php node", "runtime=node,php", "node"},
			{"--no-cal node", "no-cal", "node"},
			{"--inherit node", "inherit", "node"},
			{"-p 1 -d 3", "p=1 duration=3", ""},
			{"", "", ""},
			{"--", "", ""},
			{"- node", "", "- node"},
			{"-vv node", "v v", "node"},
		} {
			args := strings.Fields(c.line)
			options, command, err := s.Split(args)
			var got, words []string
			for _, o := range options {
				if words = append(words, o.Words...); o.Value != "" {
					got = append(got, o.Name+"="+o.Value)
				} else {
					got = append(got, o.Name)
				}
			}
			if err != nil || strings.Join(got, " ") != c.options || strings.Join(command, " ") != c.command {
				t.Errorf("%s: %q: got options %q, command %q, %v; want %q, %q", version, c.line, got, command, err, c.options, c.command)
			}
			if typed := args[:len(args)-len(command)]; !slices.Equal(words, slices.DeleteFunc(slices.Clone(typed), func(w string) bool { return w == "--" })) {
				t.Errorf("%s: %q: options have the words %q; want all that were typed", version, c.line, words)
			}
		}
		if _, command, _ := s.Split([]string{"--"}); command == nil {
			t.Errorf("%s: no command after -- is nil; want an empty one, which is a mistake of the user", version)
		}
	}
}

func TestSplit_MissingValues(t *testing.T) {
	for version, s := range syntaxes(t) {
		for _, line := range []string{"-F", "-gF", "--freq", "--call-graph", "-a -p", "--duration", "--fre"} {
			options, command, err := s.Split(strings.Fields(line))
			if err == nil || !strings.Contains(err.Error(), "needs a value") {
				t.Errorf("%s: %q: got %v, %q, %v; want an error", version, line, options, command, err)
			}
		}
	}
}

// The value of an unknown option is not taken for the command.
func TestSplit_UnknownOptions(t *testing.T) {
	for version, s := range syntaxes(t) {
		for line, want := range map[string]string{
			"--cal-graph dwarf -- node x.js": "perf record has no option --cal-graph; did you mean --call-graph?",
			"--cal-graph=dwarf node x.js":    "perf record has no option --cal-graph; did you mean --call-graph?",
			"-g --runtimes java node":        "perf record has no option --runtimes; did you mean --runtime?",
			"--nothing-like-it node":         "perf record has no option --nothing-like-it",
			"-Y node":                        "perf record has no option -Y",
			"-gY 7 node":                     "perf record has no option -Y",
		} {
			if _, command, err := s.Split(strings.Fields(line)); err == nil || err.Error() != want {
				t.Errorf("%s: %q: got command %q, %v; want %q", version, line, command, err, want)
			}
		}
		if _, command, err := s.Split(strings.Fields("-g node --cal-graph")); err != nil || len(command) != 2 {
			t.Errorf("%s: got %q, %v; want the option of the command", version, command, err)
		}
	}
}

func TestFind_LastOne(t *testing.T) {
	options := []Option{{Name: "F", Value: "1"}, {Name: "g"}, {Name: "freq", Value: "2"}}
	if o := Find(options, "F", "freq"); o == nil || o.Value != "2" {
		t.Errorf("got %v; want the last one", o)
	}
	if o := Find(options, "k"); o != nil {
		t.Errorf("got %v; want none", o)
	}
}

// A program named perf that is no perf, and one that does not start.
func TestReadSyntax_OtherPrograms(t *testing.T) {
	dir := t.TempDir()
	perf := filepath.Join(dir, "perf")
	write(t, perf, "#!/bin/sh\necho 'WARNING: perf not found for kernel 6.8.0'\nexit 2\n")
	if _, err := ReadSyntax(perf, nil); err == nil || !strings.Contains(err.Error(), "perf not found for kernel 6.8.0") {
		t.Errorf("got %v; want what it printed", err)
	}
	write(t, filepath.Join(dir, "text"), "")
	if err := os.Chmod(filepath.Join(dir, "text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSyntax(filepath.Join(dir, "text"), nil); err == nil || !strings.Contains(err.Error(), "does not start") {
		t.Errorf("got %v; want that it does not start", err)
	}
}
