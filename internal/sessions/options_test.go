package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// foreign are the options of other programs that documents name in the middle of a
// sentence, where nothing tells whose they are.
var foreign = strings.Fields(`
	--call-graph --threads --switch-output --kcore --jit --build-ids --itrace --sched-stat --asm-raw --children --no-inline --objdump --buildid-dir --data-type --sort
	--perf-prof --perf-prof-delete-file --perf-prof-unwinding-info --perf-prof-annotate-wasm --perf-basic-prof --interpreted-frames-native-stack --detailed-line-info --no-enable-lazy-source-positions --single
	--js-flags --v8-flags --no-sandbox --single-process --allow-write --jit-kind --jitmap --jitdump --profile --yjit --yjit-perf --zjit-perf --generate-perf-jitdump --generate-perf-events-symbols
	--enable-jitspew --require --no-daemon --enable-experimental-jit --verify --warnings
`)

var (
	inHelp   = regexp.MustCompile(`--[a-z][a-z0-9-]*`)
	inSpan   = regexp.MustCompile("`([^`\n]+)`")
	ourLine  = regexp.MustCompile(`(?m)^(?:\$ |    |\t)(.*)$`)
	ourWords = regexp.MustCompile(`(?:^|[|;&] *)(?:perf )?jitinject((?: +[^|;&#\x60]*)?)`)
)

// optionsOf returns the long options that the program's own help names.
func optionsOf(t *testing.T) map[string]bool {
	t.Helper()
	program := filepath.Join(built(t), "jitinject")
	known := make(map[string]bool)
	for _, args := range [][]string{
		{"help"}, {"help", "inject"}, {"help", "record"}, {"--help"}, {"inject", "--help"}, {"clean", "--help"}, {"fetch", "--help"}, {"dump", "--help"}, {"verify", "--help"}, {"view", "--help"}, {"export", "--help"}, {"completion", "--help"},
	} {
		out, _ := exec.Command(program, args...).CombinedOutput() // a command that is not there yet names none
		for _, o := range inHelp.FindAllString(string(out), -1) {
			known[o] = true
			known["--no-"+strings.TrimPrefix(o, "--")] = true
		}
	}
	if len(known) < 20 {
		t.Fatalf("jitinject help names only %d options", len(known))
	}
	return known
}

// withoutRecorded returns the words after jitinject, without the command that jitinject record records:
// its options are its own. record says that this is the command.
func withoutRecorded(words string) (text string, record bool) {
	fields := strings.Fields(words)
	if len(fields) == 0 || fields[0] != "record" {
		return words, false
	}
	for i := 1; i < len(fields); i++ {
		switch word := fields[i]; {
		case word[0] != '-', word == "--":
			return strings.Join(fields[:i], " "), true
		case slices.Contains([]string{"-F", "-o", "-e", "-d", "-p", "--call-graph", "--runtime"}, word):
			i++ // its value
		}
	}
	return words, true
}

// Every option that documents give to jitinject is one that it has.
func TestDocs_OptionsExist(t *testing.T) {
	known := optionsOf(t)
	checked := 0
	check := func(path, option, where string) {
		checked++
		if !known[option] {
			t.Errorf("%s: jitinject has no option %s (%s)", path, option, where)
		}
	}
	for _, path := range documents(top) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		var commands []string
		for _, m := range ourLine.FindAllStringSubmatch(text, -1) {
			commands = append(commands, m[1])
		}
		for _, m := range inSpan.FindAllStringSubmatch(prose(text), -1) {
			switch option, _, _ := strings.Cut(m[1], " "); {
			case !strings.HasPrefix(m[1], "-"):
				commands = append(commands, m[1])
			case strings.HasPrefix(option, "--"):
				option, _, _ = strings.Cut(option, "=")
				option, _, _ = strings.Cut(option, "[")
				option, _, _ = strings.Cut(option, "\\")
				if option != "--" && !slices.Contains(foreign, option) && strings.Trim(option, "-") != "no" && !strings.ContainsAny(option, "…") {
					check(path, option, m[1])
				}
			}
		}
		for _, c := range commands {
			for _, m := range ourWords.FindAllStringSubmatch(c, -1) {
				words, record := withoutRecorded(m[1])
				for _, o := range inHelp.FindAllString(words, -1) {
					if !record || !slices.Contains(foreign, o) { // perf's options are record's, too
						check(path, o, c)
					}
				}
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d options were looked at", checked)
	}
}
