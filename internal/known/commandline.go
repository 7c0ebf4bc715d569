package known

import (
	"path"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/quote"
)

// A command is a program that starts a runtime. The runtime's options end where the name of its own
// program stands; what follows are arguments of that program. Lists are separated by spaces.
type command struct {
	names       []string // nil for those of the runtime
	subcommands string   // words of which one may stand among the options
	subcommand  string   // one that the options need, or ""
	values      string   // options whose value is the next word
	carriers    string   // those whose value has flags of the runtime
	last        string   // those whose value is the program
	clusters    bool     // -abc is -a -b -c, and -dVALUE is -d VALUE
	anywhere    bool     // options may follow the program's name
	end         string   // word that ends the options; "" for --
	options     string   // what makes the runtime write a dump; "" for the runtime's options
}

// A Request is what perf record's command line says about a runtime's dump.
type Request struct {
	Started bool   // it starts the runtime
	Flag    string // the option that makes the runtime write a dump, or ""
	Program string // the program that has Flag as an argument; "" if the runtime has it

	// Words of a command, quoted for a shell: one that makes the runtime write a dump, and that without
	// options among the program's arguments; nil for none.
	corrected, bare []string
}

// Request returns what perf record's command line says about the runtime's dump.
func (r *Runtime) Request(cmdline []string) (q Request) {
	if len(r.flags) == 0 || len(cmdline) == 0 {
		return Request{}
	}
	for _, words := range commandsOf(cmdline) {
		for i, word := range words {
			if isAssignment(word) && !q.Started && r.match(word) && !strings.HasSuffix(word, "=0") {
				return Request{Started: true, Flag: word}
			}
			c := r.command(word)
			if c == nil {
				continue
			}
			found := r.read(c, words[i:])
			if found.Flag != "" && found.Program == "" {
				return found
			}
			if !q.Started || q.Flag == "" && found.Flag != "" {
				q = found
			}
		}
	}
	for n := 1; n <= 2; n++ { // a script may start the runtime, and pass options on
		for i := 0; i+n <= len(cmdline) && !q.Started; i++ {
			if text := strings.Join(cmdline[i:i+n], " "); r.match(text) {
				return Request{Flag: text}
			}
		}
	}
	return q
}

// command returns the command of the runtime that a word names, or nil.
func (r *Runtime) command(word string) *command {
	name := path.Base(word)
	if i := strings.IndexAny(name, "-.0123456789"); i > 0 && name[i] == '.' { // such as node.data
		return nil
	}
	for _, name := range []string{name, strings.TrimRight(name, "-.0123456789"), plain(name)} {
		for k := range r.commands {
			names := r.commands[k].names
			if names == nil {
				names = r.names
			}
			if slices.Contains(names, name) {
				return &r.commands[k]
			}
		}
	}
	return nil
}

// match reports whether a text has one of the runtime's flags.
func (r *Runtime) match(text string) bool {
	if strings.HasPrefix(text, "--") { // V8 takes --perf_prof, too
		text = strings.ReplaceAll(text, "_", "-")
	}
	return slices.ContainsFunc(r.flags, func(flag string) bool {
		_, after, ok := strings.Cut(text, flag)
		return ok && (after == "" || !strings.ContainsAny(after[:1], "abcdefghijklmnopqrstuvwxyz-_"))
	})
}

// asks reports whether an option, with its value if that is a word of its own, has one of the flags.
func (r *Runtime) asks(c *command, option []string) bool {
	text := strings.Join(option, " ")
	if value, _ := c.valueIn(option[0]); len(option) == 1 || has(c.carriers, option[0]) || value != "" && has(c.carriers, value) {
		return r.match(text)
	}
	return slices.Contains(r.flags, text)
}

// isFriend reports whether a dump needs an option as well.
func (r *Runtime) isFriend(option []string) bool {
	return slices.ContainsFunc(r.friends, func(f string) bool { return strings.Contains(strings.Join(option, " "), f) })
}

// read reads a command. words begin with the one that starts the runtime.
func (r *Runtime) read(c *command, words []string) Request {
	q := Request{Started: true}
	first, program := c.program(words)
	for i := 1; i < first; {
		option := words[i : i+min(c.length(words[i]), first-i)]
		if r.asks(c, option) {
			q.Flag = strings.Join(option, " ")
			return q
		}
		i += len(option)
	}
	arguments := words[min(program+1, len(words)):]
	var moved, kept []string
	for len(arguments) > 0 {
		option := arguments[:min(c.length(arguments[0]), len(arguments))]
		arguments = arguments[len(option):]
		asks := r.asks(c, option)
		if asks && q.Flag == "" {
			q.Flag, q.Program = strings.Join(option, " "), words[program]
		}
		if asks || r.isFriend(option) {
			moved = append(moved, option...)
		} else {
			kept = append(kept, option...)
		}
	}
	add := func(words ...string) {
		q.corrected = append(q.corrected, quoted(words)...)
	}
	head, tail := words[1:first], words[first:min(program+1, len(words))]
	if q.Program != "" {
		q.bare = quoted(slices.Concat(words[:1], head, tail, kept))
	}
	if q.Flag == "" && c.options == "" {
		head = c.without(head, strings.Fields(r.options+" "+r.ignored))
	}
	if c.anywhere {
		head, tail = nil, append(slices.Clone(head), tail...)
	}
	add(words[0])
	if c.subcommand != "" && !slices.ContainsFunc(words[1:first], func(w string) bool { return has(c.subcommands, w) }) {
		add(c.subcommand)
	}
	add(head...)
	switch {
	case q.Flag != "":
		add(moved...)
	case c.options != "":
		q.corrected = append(q.corrected, c.options)
	default:
		q.corrected = append(q.corrected, nonEmpty(r.options)...)
	}
	add(tail...)
	add(kept...)
	return q
}

// quoted returns words as a shell needs them.
func quoted(words []string) (result []string) {
	for _, w := range words {
		result = append(result, quote.ShellWord(w))
	}
	return result
}

// without returns words without the options that others replace, so that none is there twice.
func (c *command) without(words, others []string) (kept []string) {
	var replaced []string
	for len(others) > 0 {
		n := min(c.length(others[0]), len(others))
		replaced = append(replaced, c.key(others[:n]))
		others = others[n:]
	}
	for len(words) > 0 {
		n := min(c.length(words[0]), len(words))
		if !slices.Contains(replaced, c.key(words[:n])) {
			kept = append(kept, words[:n]...)
		}
		words = words[n:]
	}
	return kept
}

// key returns what two options have in common if the later one replaces the earlier: the name before
// the value. -dNAME=VALUE is -d NAME=VALUE.
func (c *command) key(option []string) string {
	if len(option) == 2 && !has(c.carriers, option[0]) {
		return option[0]
	}
	text := strings.Join(option, "")
	if slices.ContainsFunc(strings.Fields(c.carriers), func(o string) bool { return strings.HasPrefix(text, o) }) {
		text, _, _ = strings.Cut(text, "=")
	}
	return text
}

// program returns the index of the program's name, and of the first word that belongs to it: an
// option may announce it. Both are at the end if there is none.
func (c *command) program(words []string) (first, program int) {
	end := c.end
	if end == "" {
		end = "--"
	}
	subcommand := false
	for i := 1; i < len(words); i++ {
		word := words[i]
		switch {
		case word == end:
			return i, i
		case c.anywhere, strings.HasPrefix(word, "@"): // java @FILE: a file with options
		case word == "-" || word[:min(1, len(word))] != "-":
			if subcommand || !has(c.subcommands, word) {
				return i, i
			}
			subcommand = true
			continue
		case has(c.last, word) && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-"):
			return i, i + 1
		case c.clusters && c.ends(word):
			return i, min(i+1, len(words)-1)
		}
		i += c.length(word) - 1
	}
	return len(words), len(words)
}

// ends reports whether the last letter of a cluster announces the program, as in python3 -Im MODULE.
func (c *command) ends(cluster string) bool {
	value, at := c.valueIn(cluster)
	return value != "" && at == len(cluster)-1 && has(c.last, value)
}

// length returns the number of words of an option: 2 if the next word is its value.
func (c *command) length(option string) int {
	if has(c.values, option) || has(c.carriers, option) {
		return 2
	}
	if value, at := c.valueIn(option); value != "" && at == len(option)-1 {
		return 2
	}
	return 1
}

// valueIn returns the first option in a cluster that has a value, and its offset, or "".
func (c *command) valueIn(cluster string) (option string, at int) {
	if !c.clusters || len(cluster) < 2 || cluster[0] != '-' || cluster[1] == '-' {
		return "", 0
	}
	for i := 1; i < len(cluster); i++ {
		if o := "-" + cluster[i:i+1]; has(c.values, o) || has(c.carriers, o) || has(c.last, o) {
			return o, i
		}
	}
	return "", 0
}

func has(list, word string) bool { return slices.Contains(strings.Fields(list), word) }
