package completion

import (
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// table has a value of each kind, and texts with all marks that mean something to a shell.
func table() []Command {
	var options []Option
	for i, v := range []Value{{}, {Kind: Optional, Name: "N"}, {Kind: Text, Name: "a:b"}, {Kind: Word, Name: "x|y", Words: []string{"x", "y"}},
		{Kind: File, Name: "FILE", Words: []string{"*.data"}}, {Kind: File, Name: "FILE", Words: []string{"*.a", "*.b"}}, {Kind: Dir, Name: "DIR"}} {
		letter := string(rune('a' + i))
		options = append(options, Option{Short: letter, Long: "long-" + letter, Text: `it's [a] "text": \ $(false) ` + "`false`", Value: v})
	}
	return []Command{{Name: "second", Brief: "isn't: first", Options: options, Args: Value{Kind: Dir}}, {Name: "first", Brief: "b", Options: options[:1]},
		{Name: "third", Brief: "b", Options: append(options, Option{Short: "s", Text: "a letter only"}), Args: Value{Kind: Program, Name: "COMMAND..."}}}
}

func TestScript_ShellsAcceptAnyText(t *testing.T) {
	for _, shell := range Shells() {
		t.Run(shell, func(t *testing.T) {
			script, ok := Script(shell, table())
			if !ok {
				t.Fatal("got no script; want one")
			}
			cmd := testrec.Command(t, t.TempDir(), testrec.Tool(t, shell), "-n", "/dev/stdin")
			cmd.Stdin = strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("got %v; want no error, no message\n%s", err, out)
			}
		})
	}
}

func TestScript_UnknownShell(t *testing.T) {
	if script, ok := Script("tcsh", table()); ok || script != "" {
		t.Errorf("got %q, %v; want none", script, ok)
	}
}

func TestBash_Completes(t *testing.T) {
	bash := testrec.Tool(t, "bash")
	script, _ := Script("bash", table())
	// As readline calls it: the words of the line, the last one being typed.
	const drive = `eval "$1"; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _jitinject; printf '%s ' "${COMPREPLY[@]}"`
	for line, want := range map[string]string{
		"jitinject ":                        "first second third ",
		"jitinject second -d ":              "x y ",
		"jitinject second --long-d = ":      "x y ",
		"jitinject second --long-c ":        " ",
		"jitinject second --long-":          "--long-a --long-b --long-c --long-d --long-e --long-f --long-g ",
		"jitinject first -":                 "-a --long-a ",
		"jitinject third -s":                "-s ",
		"jitinject third -s -d ":            "x y ",
		"jitinject third -c -d env --long-": " ", // -d is the value of -c
		"jitinject third --long-c = mkfif":  " ",
		"jitinject third -- -s":             " ", // a command
		"jitinject third env -d ":           " ", // an option of env, which takes a file
	} {
		cmd := testrec.Command(t, t.TempDir(), bash, append([]string{"--norc", "-c", drive, "bash", script}, strings.Split(line, " ")...)...)
		if out, err := cmd.Output(); err != nil || string(out) != want {
			t.Errorf("%q: got %q, %v; want %q", line, out, err, want)
		}
	}
}

func TestZsh_TextQuoted(t *testing.T) {
	script, _ := Script("zsh", table())
	for _, want := range []string{
		`'(-a --long-a)-a[it'\''s \[a\] "text"\: \\ $(false) ` + "`false`]'",
		`'(-b --long-b)--long-b=-[`, `]::N: '`, // in the same word
		`]:a b: '`,
		`]:x|y:(x y)'`,
		`]:FILE:_files -g "*.data"'`,
		`]:FILE:_files -g "(*.a|*.b)"'`,
		`'*:file:_files -/'`,
	} {
		if !strings.Contains(script, want) {
			t.Errorf("got no %q; want it in\n%s", want, script)
		}
	}
}
