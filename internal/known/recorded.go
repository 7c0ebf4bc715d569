package known

import (
	"slices"
	"strings"
)

// A recordable says what jitinject record needs to make a runtime write a dump.
type recordable int

const (
	byNothing recordable = iota // it cannot do it
	byCommand                   // the command as it is: variables do the rest
	byOptions                   // the runtime's options, too
)

// recorded returns the command of jitinject record that makes the runtime write a dump, or "" if there
// is none. It has the runtime's options only where variables do not suffice. again says that jitinject
// record made the recording: the runtime did not get its variables, and would not get them again.
func (r *Runtime) recorded(cmdline []string) (command string, again bool) {
	words, again := workload(cmdline)
	q := r.Request(cmdline)
	switch {
	case r.recordable == byNothing:
		return "", again
	case again, r.recordable == byOptions:
		return "jitinject record " + r.withOptions(q), again
	case q.Program != "" && !r.deaf(q.bare):
		return "jitinject record " + strings.Join(q.bare, " "), false
	case q.corrected != nil && r.deaf(words):
		return "jitinject record " + r.withOptions(q), false
	case q.Started, len(words) > 0 && !hasTarget(cmdline):
		return strings.Join(append([]string{"jitinject record"}, quoted(words)...), " "), false
	}
	name, _, _ := strings.Cut(r.example(), " ")
	return strings.Join(nonEmpty("jitinject record", name, r.program), " "), false
}

// deaf reports whether a command keeps the runtime from getting the variables of jitinject record, or
// undoes what they ask for.
func (r *Runtime) deaf(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		if name, _, _ := strings.Cut(word, "="); isAssignment(word) {
			return slices.Contains(r.env, name)
		}
		if len(word) > 1 && len(word) < 5 && word[0] == '-' && word[1] != '-' && strings.ContainsAny(word, r.deafening) {
			return true
		}
		return slices.ContainsFunc(slices.Concat(r.flags, r.friends), func(text string) bool {
			name, _, _ := strings.Cut(text, " ")
			return strings.Contains(word, name)
		})
	})
}

// workload returns the words of the command that perf record starts. byRecord says that jitinject
// record made perf do so, and that no process ran already.
func workload(cmdline []string) (words []string, byRecord bool) {
	first, _ := perf.program(cmdline)
	words = cmdline[first:]
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	command := withoutTrampoline(words)
	return command, len(command) < len(words) && !hasTarget(cmdline)
}

// hasTarget reports whether perf record's options name processes that run already. A command, such as
// sleep 10, is then there for its duration only.
func hasTarget(cmdline []string) bool {
	first, _ := perf.program(cmdline)
	for i := 0; i < first; i += perf.length(cmdline[i]) {
		word := cmdline[i]
		if name, _, _ := strings.Cut(word, "="); slices.Contains([]string{"--all-cpus", "--pid", "--tid", "--uid", "--cgroup"}, name) {
			return true
		}
		if len(word) < 2 || word[0] != '-' || word[1] == '-' {
			continue
		}
		for _, letter := range word[1:] {
			if strings.ContainsRune("aptuG", letter) {
				return true
			}
			if has(perf.values, "-"+string(letter)) { // the rest is its value
				break
			}
		}
	}
	return false
}
