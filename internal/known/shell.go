package known

import (
	"path"
	"slices"
	"strings"
)

// perf is the program that a recorded command line begins with (perf-record(1)).
var perf = command{subcommands: "record", values: "-C -D -F -G -c -e -j -k -m -o -p -r -t -u --affinity --branch-filter --call-graph --cgroup --clockid --control --count --cpu --delay --event --filter --freq --max-size --mmap-pages --num-thread-synthesize --output --pid --proc-map-timeout --realtime --switch-max-files --tid --uid --vmlinux"}

// commandsOf returns the words of the command that perf record starts, and of the commands that this
// hands to a shell.
func commandsOf(cmdline []string) (commands [][]string) {
	first, _ := perf.program(cmdline)
	cmdline = withoutTrampoline(cmdline[first:])
	for i := 2; i < len(cmdline); i++ {
		option := cmdline[i-1]
		if slices.Contains([]string{"sh", "bash", "dash", "ksh", "zsh", "ash"}, path.Base(cmdline[i-2])) && strings.HasPrefix(option, "-") && strings.HasSuffix(option, "c") {
			return append([][]string{cmdline[:i]}, shellCommands(cmdline[i])...)
		}
	}
	return [][]string{cmdline}
}

// withoutTrampoline returns the command that jitinject record lets perf start: jitinject itself becomes
// the words after --.
func withoutTrampoline(words []string) []string {
	const until = 4
	if len(words) > until && path.Base(words[0]) == "jitinject" && words[1] == "record" && words[until] == "--" {
		return words[until+1:]
	}
	return words
}

// Typed returns perf record's command line without jitinject, which jitinject record lets perf start.
func Typed(cmdline []string) []string {
	for i := range cmdline {
		if rest := withoutTrampoline(cmdline[i:]); len(rest) < len(cmdline)-i {
			return slices.Concat(cmdline[:i], rest)
		}
	}
	return cmdline
}

// shellCommands splits a shell's text into simple commands, without what their words expand to.
func shellCommands(text string) (commands [][]string) {
	var words []string
	var word strings.Builder
	quote, begun := byte(0), false
	endWord := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote != '\'' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			begun = true
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			endWord()
		case quote == 0 && strings.IndexByte("\n;&|()<>", c) >= 0:
			endCommand()
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	endCommand()
	return commands
}

// isAssignment reports whether a word sets an environment variable.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == ""
}
