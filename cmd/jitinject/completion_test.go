package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/completion"
	"github.com/jitinject/jitinject/internal/testrec"
)

// completions are command lines, and what is offered for their last word: all of it,
// or, behind "...", at least that.
var completions = []struct{ line, want string }{
	{"jitinject cl", "clean"},
	{"jitinject ", "clean completion help inject man version ..."},
	{"jitinject --su", "--summary"},
	{"perf-jitinject --su", "--summary"},
	{"jitinject inject --emb", "--embed-sources"},
	{"jitinject -f --sam", "--sampled"},
	{"jitinject clean --d", "--dry-run"},
	{"jitinject --summary ", "json text"},
	{"jitinject --progress a", "always auto"},
	{"jitinject -i d/", "d/bundle d/jit-1.dump d/perf.data"},
	{"jitinject clean d/p", "d/perf.data"},
	{"jitinject --objects d/", "d/bundle"},
	{"jitinject man d/b", "d/bundle"},
	{"jitinject help cl", "clean clocks"},
	{"jitinject completion z", "zsh"},
	{"jitinject --mono e/", "e/app.mlpd"},
	{"jitinject --xray e/", "e/xray-log.app.x"},
	{"jitinject --xray e/xray-log.app.x e/", "e/app.mlpd e/core.7 e/xray-log.app.x"},
	{"jitinject --code-from e/", "e/core.7"},
	{"jitinject --xray-binary e/j", "e/jitted-7-1.so"},
	{"jitinject dump e/", "e/app.mlpd e/core.7 e/xray-log.app.x"},
	{"jitinject verify e/", "e/app.mlpd e/perf.data e/xray-log.app.x"},
	{"jitinject dump e/jit", "e/jitted-7-1.so"},
	{"jitinject record --no-inl", "--no-inlines"},
	{"jitinject record -F 99 --call-g", "--call-graph"}, // perf's
	{"jitinject record --call-graph l", "lbr"},
	{"jitinject record --runtime py", "python"},
	{"jitinject report --no-ch", "--no-children"}, // perf's
	{"jitinject report --call-graph call", "callee caller"},
	{"jitinject report -i d/", "d/bundle d/jit-1.dump d/perf.data"},
	{"jitinject annotate --print", "--print-line"},
	{"jitinject diff --compute ra", "ratio"},
	{"jitinject record mkfif", "mkfifo ..."},
	{"perf-jitinject record -g -e cycles -- mkfif", "mkfifo ..."},
	{"jitinject record cat d/", "d/bundle d/jit-1.dump d/notes.txt d/perf.data"},
	{"jitinject record -o x.data -e cycles:u -g -- cat -n d/n", "d/notes.txt"},
	{"jitinject record cat --no-inl", ""}, // no option of ours
	{"jitinject record d/", "d/bundle"},   // no command is there, and no file
}

// scriptOf returns the script of a shell.
func scriptOf(t *testing.T, shell string) string {
	t.Helper()
	script, ok := completion.Script(shell)
	if !ok {
		t.Fatalf("no script for %s; want one", shell)
	}
	return script
}

// completionDir is a directory with files that are of interest, and one that is not.
func completionDir(t *testing.T, shell, script string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	for _, d := range []string{filepath.Join("d", "bundle"), "e"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.Executable() // which is the program if it is told so
	if err == nil {
		err = os.Symlink(program, filepath.Join(dir, "jitinject"))
	}
	if err == nil {
		err = os.Symlink(program, filepath.Join(dir, "perf-jitinject"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(beProgram, "1")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	path = filepath.Join(dir, "completion."+shell)
	for name, text := range map[string]string{path: script, filepath.Join(dir, "d", "perf.data"): "", filepath.Join(dir, "d", "jit-1.dump"): "", filepath.Join(dir, "d", "notes.txt"): "",
		filepath.Join(dir, "e", "app.mlpd"): "", filepath.Join(dir, "e", "xray-log.app.x"): "", filepath.Join(dir, "e", "core.7"): "", filepath.Join(dir, "e", "jitted-7-1.so"): "", filepath.Join(dir, "e", "perf.data"): ""} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, path
}

// checkOffered checks what a shell offers.
func checkOffered(t *testing.T, line string, got []string, want string) {
	t.Helper()
	for i := range got {
		got[i] = strings.TrimSuffix(got[i], "/")
	}
	slices.Sort(got)
	words, more := strings.CutSuffix(want, " ...")
	for _, w := range strings.Fields(words) {
		if !slices.Contains(got, w) {
			more, words = false, want+" (no "+w+")"
		}
	}
	if !more && strings.Join(got, " ") != words {
		t.Errorf("%q: %q, want %q", line, got, words)
	}
}

func TestCompletion_Bash(t *testing.T) {
	bash := testrec.Tool(t, "bash")
	code, script, stderr := command(t, t.TempDir(), "completion", "bash")
	if code != exitOK {
		t.Fatal(stderr)
	}
	dir, path := completionDir(t, "bash", script)
	// As readline calls it: the words of the line, the last one being typed.
	const drive = `source "$1"; shift
		f=$(complete -p "$1") || exit 1; f=${f#*-F }; f=${f%% *}
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); $f "$1" "${@:$#}" "${@:$#-1:1}"; printf '%s\n' "${COMPREPLY[@]}"`
	for _, c := range append(completions, struct{ line, want string }{"jitinject --summary = j", "json"}, struct{ line, want string }{"jitinject --summary =", "json text"}) {
		words := strings.Split(c.line, " ")
		cmd := testrec.Command(t, dir, bash, append([]string{"--norc", "-c", drive, "bash", path}, words...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", c.line, err)
		}
		checkOffered(t, c.line, strings.Fields(string(out)), c.want)
	}
}

func TestCompletion_Fish(t *testing.T) {
	fish := testrec.Tool(t, "fish")
	dir, path := completionDir(t, "fish", scriptOf(t, "fish"))
	for _, c := range append(completions, struct{ line, want string }{"jitinject --summary=j", "--summary=json"}, struct{ line, want string }{"jitinject --input=d/p", "--input=d/perf.data"}) {
		cmd := testrec.Command(t, dir, fish, "--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, path, c.line)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: unexpected error: %v\n%s", c.line, err, out)
		}
		var got []string
		for line := range strings.Lines(string(out)) {
			word, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
			got = append(got, word)
			if strings.HasPrefix(word, "--") && text == "" && !strings.Contains(word, "=") {
				t.Errorf("%s has no description", word)
			}
		}
		checkOffered(t, c.line, got, c.want)
	}
}

// Names are completed however they are written.
func TestCompletion_FishQuotedNames(t *testing.T) {
	fish := testrec.Tool(t, "fish")
	dir, path := completionDir(t, "fish", scriptOf(t, "fish"))
	if err := os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "my d")); err != nil {
		t.Fatal(err)
	}
	files := []string{"bundle/", "jit-1.dump", "perf.data"}
	for line, before := range map[string]string{
		`jitinject -i ~/my\ d/`:         "~/my d/",
		`jitinject -i $HOME/my\ d/`:     "$HOME/my d/",
		`jitinject -i my\ d/`:           "my d/",
		`jitinject -i "my d/`:           "my d/",
		`jitinject -i 'my d/`:           "my d/",
		`jitinject --input=~/"my d"/`:   "--input=~/my d/",
		`perf-jitinject clean ~/my\ d/`: "~/my d/",
	} {
		cmd := testrec.Command(t, dir, fish, "--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, path, line)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: unexpected error: %v\n%s", line, err, out)
		}
		var got []string
		for line := range strings.Lines(string(out)) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			got = append(got, strings.TrimPrefix(word, before))
		}
		if !slices.Equal(got, files) {
			t.Errorf("%s: %q, want %q behind %s", line, got, files, before)
		}
	}
}

// zsh is asked as a user does it: with the keys that list what may come.
func TestCompletion_Zsh(t *testing.T) {
	zsh := testrec.Tool(t, "zsh")
	for _, how := range []string{"source", "fpath"} {
		t.Run(how, func(t *testing.T) {
			dir, path := completionDir(t, "zsh", scriptOf(t, "zsh"))
			setup := `autoload -Uz compinit; compinit -u -D; source ` + path
			if how == "fpath" {
				// As packages install it.
				if err := os.Rename(path, filepath.Join(dir, "_jitinject")); err != nil {
					t.Fatal(err)
				}
				setup = `fpath=(` + dir + ` $fpath); autoload -Uz compinit; compinit -u -D`
			}
			tty := openTerminal(t)
			cmd := testrec.Command(t, dir, zsh, "-f", "-i")
			cmd.Env = append(cmd.Env, "TERM=dumb", "PS1=> ")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = tty.slave, tty.slave, tty.slave
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { cmd.Process.Kill(); cmd.Wait() }()
			ask := func(keys, until string) string {
				before := len(tty.raw())
				tty.master.WriteString(keys)
				return tty.wait(t, until, func(raw string) bool { return strings.Contains(raw[before:], until) })[before:]
			}
			// Hits are written as the shell adds them, however it would show them.
			ask(setup+"\n", "\n")
			ask(`bindkey -e; hits=(); compadd() { if [[ ${@[1,(i)(-|--)]} == *-[OAD]* ]]; then builtin compadd "$@"; else local -a h; builtin compadd -O h "$@"; hits+=($h); builtin compadd "$@"; fi }`+"\n", "\n")
			ask(`show() { print -r -- "[[${hits}]]"; hits=(); zle kill-buffer; zle reset-prompt }; zle -N show; bindkey '^X' show; print -r re"ad"y`+"\n", "ready")
			for i, c := range completions {
				if strings.Contains(c.want, "d/") || strings.Contains(c.want, "e/") || how == "fpath" && i > 2 {
					continue // paths below: zsh completes them part by part
				}
				raw := ask(c.line+"\x04\x18", "]]")
				_, hits, _ := strings.Cut(raw, "[[")
				hits, _, _ = strings.Cut(hits, "]]")
				checkOffered(t, c.line, strings.Fields(hits), c.want)
			}
			for line, want := range map[string][]string{
				"jitinject -i d/":        {"jit-1.dump", "perf.data"},
				"jitinject --input=d/":   {"jit-1.dump", "perf.data"},
				"jitinject clean d/":     {"jit-1.dump", "perf.data"},
				"jitinject --objects d/": {"bundle"},

				"jitinject --mono e/":        {"app.mlpd"},
				"jitinject --xray e/":        {"xray-log.app.x"},
				"jitinject --xray x e/":      {"app.mlpd", "core.7", "xray-log.app.x"},
				"jitinject --code-from e/":   {"core.7"},
				"jitinject --xray-binary e/": {"jitted-7-1.so"},
				"jitinject dump e/":          {"app.mlpd", "core.7", "xray-log.app.x"},

				"jitinject record -g cat d/":                {"jit-1.dump", "notes.txt", "perf.data"},
				"jitinject record -e cycles:u -- cat -n d/": {"jit-1.dump", "notes.txt", "perf.data"},
			} {
				raw := ask(line+"\x04\x18", "]]")
				_, hits, _ := strings.Cut(raw, "[[")
				hits, _, _ = strings.Cut(hits, "]]")
				for _, w := range want {
					if !slices.Contains(strings.Fields(hits), w) {
						t.Errorf("%q: %q, want %q", line, hits, w)
					}
				}
				if strings.Contains(hits, "notes.txt") != strings.Contains(line, " cat ") || strings.Contains(hits, ".so") && !strings.Contains(line, "--xray-binary") {
					t.Errorf(`%q: got %q; want "notes.txt" only as a file of cat, one without ".so" or line with "--xray-binary"`, line, hits)
				}
			}
			if out, err := exec.Command(zsh, "-n", "-c", scriptOf(t, "zsh")).CombinedOutput(); err != nil {
				t.Errorf("unexpected error: %v\n%s", err, out)
			}
		})
	}
}

// perf has the options that are offered for its commands.
func TestCompletion_OptionsOfPerf(t *testing.T) {
	for version, perf := range testrec.Perfs(t) {
		for _, name := range []string{"report", "annotate", "script", "diff"} {
			out, _ := testrec.Command(t, t.TempDir(), perf, name, "--list-opts").Output() // its exit code is 130
			known := strings.Fields(string(out))
			for _, o := range completion.PerfOptions(name) {
				if !slices.Contains(known, "--"+o.Long) && !slices.Contains(known, "--"+strings.TrimPrefix(o.Long, "no-")) {
					t.Errorf("perf %s %s has no option --%s", version, name, o.Long)
				}
			}
		}
	}
}
