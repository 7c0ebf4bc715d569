package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/manual"
	"github.com/jitinject/jitinject/internal/testrec"
)

// What was typed is quoted, and what looks like it is suggested.
func TestOption_NearMiss(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "recording"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--sumary":             "there is no option --sumary; did you mean --summary? see jitinject help inject",
		"--no-bundel":          "there is no option --no-bundel; did you mean --no-bundle?",
		"--no-summry":          "there is no option --no-summry; see",
		"--oupt x":             "there is no option --oupt; did you mean --output?",
		"--summary jsno":       "--summary jsno: invalid value; use text or json; did you mean json?",
		"--summary yaml":       "--summary yaml: invalid value; use text or json; see",
		"--summary":            "--summary needs a value: text or json",
		"--progress sometimes": "--progress sometimes: invalid value; use auto, always or never; see",
		"--progress allways":   "did you mean always?",
		"--clock autp":         "--clock autp: invalid value; use auto, strict, or a number of nanoseconds; did you mean auto?",
		"-summary json":        "-summary: did you mean --summary, with two dashes?",
		"-no-bundle":           "-no-bundle: did you mean --no-bundle, with two dashes?",
		"claen":                "there is no command claen; did you mean clean?",
		"comletion":            "there is no command comletion; did you mean completion?",
		"dmup":                 "there is no command dmup; did you mean dump?",
		"verfy x":              "there is no command verfy; did you mean verify?",
		"dump --jsno x":        "there is no option --jsno; did you mean --json? see jitinject dump --help",
		"compl":                "there is no command compl; did you mean completion?",
		"help exit":            "there is no command or topic exit; did you mean exit-codes?",
		"--live node":          `--live "node": it takes a number; see`,
		"--pid node":           `--pid "node": it takes a number; see`,
		"--clock str":          "did you mean strict?",
		"sh -c x":              "there is no command sh; to record a program: jitinject record sh -c x; see",
		"nope":                 "there is no command nope; see",
		"frobnicate":           "there is no command frobnicate; see jitinject help inject",
		"recording":            "recording is empty: its program has not written it",
		"perf.data":            "there is no file perf.data",
		"-f perf.data":         "there is no file perf.data",
		"./x\x1b[2J":           `there is no file ./x\x1b[2J`,
		"top":                  "top is a command of perf: perf top",
		"tmechart":             "there is no command tmechart; did you mean perf timechart?",
		"anotate":              "there is no command anotate; did you mean annotate?",
		"clean --dryrun x":     "there is no option --dryrun; did you mean --dry-run? see jitinject clean --help",
		"clean -dry-run x":     "-dry-run: did you mean --dry-run, with two dashes?",
		"help clcks":           "there is no command or topic clcks; did you mean clocks?",
		"help sched":           "it is one of perf: perf help sched",
		"help clean clean":     `"clean": help takes one command or topic`,
		"completion tcsh":      "there is no completion for tcsh; use bash, zsh or fish",
		"completion fihs":      "did you mean fish?",
		"completion":           "the name of one shell: bash, zsh or fish",
		"man":                  "the name of one directory",
		"version 2":            `"2": version takes nothing`,
	} {
		code, _, stderr := command(t, dir, strings.Fields(args)...)
		if code != exitUsage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "jitinject: ") {
			t.Errorf("%q: exit code %d, want %q:\n%s", args, code, want, stderr)
		}
	}
}

// Every command reads options as perf does.
func TestOption_SpelledAsInPerf(t *testing.T) {
	for _, args := range []string{"clean --dry --no-dry-run --no-for nowhere", "clean --verb --verb -q nowhere"} {
		if code, _, stderr := command(t, t.TempDir(), strings.Fields(args)...); code != exitFailed || !strings.Contains(stderr, "there is no such file") {
			t.Errorf("%q: exit code %d\n%s", args, code, stderr)
		}
	}
	for _, args := range []string{"help --he", "clean --hel", "version -h", "inject -h", "man --help", "completion --help", "--help"} {
		if code, stdout, stderr := command(t, t.TempDir(), append(strings.Fields(args), "--help")...); code != exitOK || !strings.HasPrefix(stdout, "usage: jitinject") || stderr != "" {
			t.Errorf("%q: exit code %d\n%s", args, code, stderr)
		}
	}
}

// All that is said about an option comes from its description: it is in the help, the
// manual page and the completions, and so are the words that it takes.
func TestOption_InHelpManualAndCompletions(t *testing.T) {
	names := offered([]string{""}).Words
	dir := t.TempDir()
	if err := writeManual(dir, manualDate); err != nil {
		t.Fatal(err)
	}
	for _, c := range commands() {
		_, help, _ := command(t, dir, "help", c.name)
		_, same, _ := command(t, dir, c.name, "--help")
		if help != same || !strings.HasPrefix(help, "usage: "+c.synopsis("jitinject")) {
			t.Errorf("help %s is not %s --help", c.name, c.name)
		}
		page := ""
		if c.flags != nil {
			name := "jitinject-" + c.name
			if c.name == "inject" {
				name = "jitinject"
			}
			b, err := os.ReadFile(filepath.Join(dir, "man1", name+".1"))
			if err != nil {
				t.Fatal(err)
			}
			page = string(b)
		}
		completed := offered([]string{c.name, "-"}).Words
		for _, f := range visible(c.options()) {
			spellings := []string{"--" + f.Name}
			if f.Shorthand != "" {
				spellings = append(spellings, "-"+f.Shorthand)
			}
			for _, s := range spellings {
				if !strings.Contains(help, s) {
					t.Errorf("help %s has no %s", c.name, s)
				}
				if page != "" && !strings.Contains(page, strings.ReplaceAll(s, "-", `\-`)) {
					t.Errorf("the manual page of %s has no %s", c.name, s)
				}
				if line := s + "\t" + plain(f); !slices.Contains(completed, line) {
					t.Errorf("completion of %s has no %q", c.name, line)
				}
			}
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") || strings.Count(f.Usage, "`")%2 != 0 {
				t.Errorf("%s --%s: usage %q", c.name, f.Name, f.Usage)
			}
			if words, _ := values(f); len(words) > 0 && !slices.Equal(offered([]string{c.name, "--" + f.Name, ""}).Words, words) {
				t.Errorf("completion has no words for --%s", f.Name)
			}
		}
		if line := c.name + "\t" + c.brief; !slices.Contains(names, line) {
			t.Errorf("completion has no %q", line)
		}
	}
}

// What an option takes stands behind its name, and its text does not list it again.
func TestOption_ValuesListedOnce(t *testing.T) {
	for _, c := range commands() {
		for _, f := range visible(c.options()) {
			value, _ := pflag.UnquoteUsage(f)
			if text := plain(f); strings.ContainsAny(value, "|=") && strings.Contains(text, value) || text == "" {
				t.Errorf("%s: got %q; want a text without %q", f.Name, text, value)
			}
		}
	}
}

func TestOption_Markup(t *testing.T) {
	fs := newFlagSet("inject")
	fs.BoolP("quiet", "q", false, "say nothing")
	fs.StringP("input", "i", "perf.data", "read `FILE`")
	fs.IntP("level", "z", 0, "compress at `N`")
	fs.Lookup("level").NoOptDefVal = "1"
	fs.String("clock", "", "`auto|NS`: x")
	for name, want := range map[string][2]string{
		"quiet": {"`-q`, `--quiet`", "say nothing"},
		"input": {"`-i`, `--input` *FILE*", "read FILE (default: perf.data)"},
		"level": {"`-z`, `--level`[=*N*]", "compress at N"},
		"clock": {"`--clock` `auto`|*NS*", "x"},
	} {
		if b := optionBlock(fs.Lookup(name)); b.Term != want[0] || b.Text != want[1] || b.Kind != manual.Definition {
			t.Errorf("got %+v; want %q", b, want)
		}
	}
}

// What help files say about options is true in so far as there are such options.
func TestHelp_NamesRealOptions(t *testing.T) {
	known := make(map[string]bool)
	for _, c := range commands() {
		c.options().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	}
	for _, foreign := range []string{"--call-graph", "--threads", "--perf-prof", "--log-code", "--log-source-code", "--logfile", "--no-logfile-per-isolate", "--v8-flags", "--js-flags", "--no-sandbox", "--jit-kind", "--profile", "--mount-proc", "--jit", "--remove", "--purge", "--no-children", "--children", "--perf-basic-prof", "--interpreted-frames-native-stack", "--yjit", "--yjit-perf", "--zjit-perf", "--cflags", "--libs", "--asm-raw", "--no-asm-raw", "--no-inline", "--stdio", "--header-only"} {
		known[foreign] = true
	}
	for _, name := range helpWords() {
		p, _ := helpText(name)
		for _, s := range p.Sections {
			for _, b := range s.Blocks {
				for _, word := range strings.FieldsFunc(b.Text, func(r rune) bool {
					return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
				}) {
					if len(word) > 2 && strings.HasPrefix(word, "--") && word != "--no-" && !known[word] {
						t.Errorf("%s.md speaks of %s, which no command has", name, word)
					}
				}
			}
		}
	}
}

// Help fits one screen, and begins with the commands that most people need.
func TestHelp_OneScreen(t *testing.T) {
	_, all, _ := command(t, t.TempDir(), "help")
	lines := strings.Split(strings.TrimRight(all, "\n"), "\n")
	if len(lines) < 24 || len(lines) > 40 {
		t.Errorf("%d lines", len(lines))
	}
	for i, want := range []string{"record", "report", "view"} {
		if got := lines[3+i]; len(got) > 80 || !strings.HasPrefix(got, "  jitinject "+want+" ") {
			t.Errorf("got line %q; want %s", got, want)
		}
	}
}

// Every topic has a line that says what it is, and a text that fits a terminal.
// A header is a page of section 3.
func TestHelp_EveryTopic(t *testing.T) {
	if len(topics()) < 5 {
		t.Fatal(topics())
	}
	_, all, _ := command(t, t.TempDir(), "help")
	for _, name := range topics() {
		code, stdout, stderr := command(t, t.TempDir(), "help", name)
		if p, _ := helpText(name); code != exitOK || stderr != "" || p.Name != strings.TrimSuffix(name, ".h") || p.Brief == "" || !slices.Contains(strings.FieldsFunc(all, func(r rune) bool { return strings.ContainsRune(", \n", r) }), name) {
			t.Errorf("%s: exit code %d, page %s: %s\n%s", name, code, p.Name, p.Brief, stderr)
		}
		for line := range strings.Lines(stdout) {
			if len(line) > 81 || strings.ContainsAny(line, "\t`") {
				t.Errorf("%s: line %q", name, line)
			}
		}
	}
}

// The message about an unknown topic names the command that lists them.
func TestHelp_UnknownTopic(t *testing.T) {
	for topic, want := range map[string]string{
		"topics":   "jitinject: there is no command or topic topics; see jitinject help\n",
		"perf-map": "jitinject: there is no command or topic perf-map; did you mean perfmap? see jitinject help\n",
	} {
		if code, _, stderr := command(t, t.TempDir(), "help", topic); code != exitUsage || stderr != want {
			t.Errorf("help %s: got exit code %d, %q; want %d, %q", topic, code, stderr, exitUsage, want)
		}
	}
}

// Text fits a narrow terminal.
func TestHelp_FitsWidth(t *testing.T) {
	for _, c := range commands() {
		for line := range strings.Lines(commandHelp(&c, "jitinject", 50)) {
			if len(line) > 51 && !strings.HasPrefix(line, "      ") && !strings.HasPrefix(line, "usage") { // but commands that are to be typed
				t.Errorf("%s: line %q", c.name, line)
			}
		}
	}
}

// As a command of perf it calls itself one, and perf finds it in PATH.
func TestPerfJitinject_InPath(t *testing.T) {
	var errs strings.Builder
	if code := run([]string{"/usr/bin/perf-jitinject", "--sumary"}, nil, nil, &errs); code != exitUsage ||
		errs.String() != "perf jitinject: there is no option --sumary; did you mean --summary? see perf jitinject help inject\n" {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
	errs.Reset()
	if code := run([]string{"perf-jitinject", "x.data"}, nil, nil, &errs); code != exitUsage || !strings.Contains(errs.String(), "there is no file x.data; see perf jitinject help") {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
	program, err := os.Executable() // which is the program if it is told so
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "perf-jitinject")); err != nil {
		t.Fatal(err)
	}
	for version, perf := range testrec.Perfs(t) {
		dir := testrec.Place(t, "php")
		for args, want := range map[string]string{
			"-i perf.data -o out.data": "out.data: 44 mappings",
			"help":                     "usage: perf jitinject [inject]",
			"clean --help":             "usage: perf jitinject clean [options]",
			"--version":                "jitinject version ",
		} {
			cmd := testrec.Command(t, dir, perf, append([]string{"jitinject"}, strings.Fields(args)...)...)
			cmd.Args[0] = "perf" // with a directory, perf would look there first
			cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"), beProgram+"=1")
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
				t.Errorf("perf %s jitinject %s: %v\n%s", version, args, err, out)
			}
		}
	}
}

// The help has each visible option once, in a group.
func TestHelp_GroupsHaveEveryOption(t *testing.T) {
	seen := make(map[string]int)
	for _, g := range optionGroups {
		for _, name := range strings.Fields(g.options) {
			seen[name]++
		}
	}
	for _, f := range visible(findCommand("inject").options()) {
		if seen[f.Name] != 1 {
			t.Errorf("--%s: got %d groups; want 1", f.Name, seen[f.Name])
		}
		delete(seen, f.Name)
	}
	for name := range seen {
		t.Errorf("a group has --%s, which is no visible option", name)
	}
	if first := len(strings.Fields(optionGroups[0].options)); first < 8 || first > 12 {
		t.Errorf("got %d common options; want some ten", first)
	}
}

// Help goes through the pager on a terminal, and nowhere else.
func TestHelp_PagerOnTerminalOnly(t *testing.T) {
	t.Setenv("JITINJECT_PAGER", "sed s/^/paged:/")
	t.Setenv("TERM", "xterm")
	tty := openTerminal(t)
	var stderr strings.Builder
	if code := run([]string{"jitinject", "help", "clocks"}, nil, tty.slave, &stderr); code != exitOK || stderr.Len() > 0 {
		t.Errorf("got exit code %d, %q; want %d", code, stderr.String(), exitOK)
	}
	tty.wait(t, "the pager's output", func(raw string) bool { return strings.Contains(raw, "paged:") })
	if code, stdout, _ := command(t, t.TempDir(), "help", "clocks"); code != exitOK || strings.Contains(stdout, "paged:") {
		t.Errorf("got exit code %d, %.80q; want text without a pager", code, stdout)
	}
}
