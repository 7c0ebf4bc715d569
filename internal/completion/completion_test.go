package completion

import (
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// table has an option for each kind of value.
func table() (options []Option) {
	for i, v := range []Value{{}, {Kind: Text}, {Word, []string{"x", "y"}}, {File, []string{"*.data"}}, {Kind: Dir}} {
		letter := string(rune('a' + i))
		options = append(options, Option{Short: letter, Long: "long-" + letter, Text: "text", Value: v})
	}
	return append(options, Option{Long: "may", Value: Value{Kind: Dir}, Optional: true}, Option{Short: "s", Text: "a letter only"})
}

func TestComplete_KindsOfWords(t *testing.T) {
	program, files := Value{Kind: Program}, Value{File, []string{"*.a", "*.b"}}
	for _, c := range []struct {
		line     string
		argument Value
		want     string
	}{
		{"", files, "files *.a *.b\n"},
		{"-a ", files, "files *.a *.b\n"},
		{"-c ", files, "words\nx\ny\n"},
		{"--long-c=", files, "words\nx\ny\n"},
		{"--long-c=x ", files, "files *.a *.b\n"},
		{"-d x -e ", files, "dirs\n"},
		{"-b -c ", files, "files *.a *.b\n"}, // -c is the value of -b
		{"--may ", files, "files *.a *.b\n"}, // the value would be in the same word
		{"--may=", files, "dirs\n"},
		{"--unknown x -c ", files, "words\nx\ny\n"},
		{"x -c ", files, "words\nx\ny\n"},
		{"-b ", program, "text\n"},
		{"-b env mkf", program, "command 1\n"},
		{"-a -- mkf", program, "command 1\n"},
		{"-s env -c ", program, "command 3\n"}, // an option of env
	} {
		if got := Complete(table(), c.argument, strings.Split(c.line, " ")).String(); got != c.want {
			t.Errorf("%q: got %q; want %q", c.line, got, c.want)
		}
	}
	options := Complete(table(), files, []string{"--l"})
	if options.Kind != Word || len(options.Words) != 12 || !slices.Contains(options.Words, "-s\ta letter only") || !slices.Contains(options.Words, "--may\t") {
		t.Errorf("got %q; want all options with their texts", options)
	}
}

func TestScript_ShellsAcceptIt(t *testing.T) {
	for _, shell := range Shells() {
		t.Run(shell, func(t *testing.T) {
			script, ok := Script(shell)
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
	if script, ok := Script("tcsh"); ok || script != "" {
		t.Errorf("got %q, %v; want none", script, ok)
	}
}
