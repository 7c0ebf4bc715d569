package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// zshCompletion is a script for zsh's compsys, to be called _jitinject in a directory
// of fpath.
func zshCompletion() string {
	var b strings.Builder
	b.WriteString(`#compdef jitinject perf-jitinject
# zsh completion for jitinject; made by: jitinject completion zsh

_jitinject_commands() {
	local -a commands=(
`)
	for _, c := range commands() {
		fmt.Fprintf(&b, "\t\t%s\n", singly(c.name+":"+c.brief))
	}
	b.WriteString(`	)
	_describe -t commands command commands
}

_jitinject() {
	local command=inject
	if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
		_jitinject_commands
		return
	fi
	if (( CURRENT > 2 )) && [[ $words[2] != -* ]]; then
		command=$words[2]
		shift words
		(( CURRENT-- ))
	fi
	case $command in
`)
	for _, c := range commands() {
		fmt.Fprintf(&b, "\t(%s)\n\t\t_arguments -s -S \\\n", c.name)
		for _, f := range visible(c.options()) {
			for _, spec := range zshSpecs(f) {
				fmt.Fprintf(&b, "\t\t\t%s \\\n", singly(spec))
			}
		}
		what, words := c.takesArgs()
		args := "*:: :_nothing"
		if what != takesNothing {
			name := strings.ReplaceAll(strings.ToLower(strings.Trim(cmp.Or(c.args, "file"), "[].")), "|", " or ")
			args = "*:" + name + ":" + zshAction(what, words)
		}
		fmt.Fprintf(&b, "\t\t\t%s\n\t\t;;\n", singly(args))
	}
	b.WriteString("\tesac\n}\n\n# Installed in fpath, or read by a shell.\nif [[ $funcstack[1] == _jitinject ]]; then\n\t_jitinject \"$@\"\nelse\n\tcompdef _jitinject jitinject perf-jitinject\nfi\n")
	return b.String()
}

// zshSpecs describes an option for _arguments: one line for each spelling.
func zshSpecs(f *pflag.Flag) (specs []string) {
	name, _ := pflag.UnquoteUsage(f)
	what, words := takes(f)
	repeat := "(" + strings.Join(spellings(f), " ") + ")"
	if t := f.Value.Type(); t == "count" || strings.HasSuffix(t, "Array") || strings.HasSuffix(t, "Slice") {
		repeat = "*"
	}
	text := strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, ":", `\:`).Replace(plain(f))
	for _, s := range spellings(f) {
		value := ""
		switch {
		case what != takesNothing:
			value = ":" + strings.ReplaceAll(name, ":", " ") + ":" + zshAction(what, words)
			if strings.HasPrefix(s, "--") {
				s += "="
			} else {
				s += "+"
			}
		case f.Value.Type() != "bool" && f.Value.Type() != "count": // optional, in the same word
			s += "-"
			if strings.HasPrefix(s, "--") {
				s = strings.TrimSuffix(s, "-") + "=-"
			}
			value = "::" + name + ": "
		}
		specs = append(specs, repeat+s+"["+text+"]"+value)
	}
	return specs
}

// zshAction says what to complete.
func zshAction(what taker, words []string) string {
	switch what {
	case takesWord:
		return "(" + strings.Join(words, " ") + ")"
	case takesFile:
		if len(words) == 1 { // in parentheses at the end, it would be a qualifier
			return `_files -g "` + words[0] + `"`
		}
		return `_files -g "(` + strings.Join(words, "|") + `)"`
	case takesDir:
		return "_files -/"
	}
	return " "
}
