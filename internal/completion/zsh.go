package completion

import (
	"cmp"
	"fmt"
	"strings"
)

// zsh returns a script for zsh's compsys, in a file called _jitinject in a directory of fpath.
func zsh(commands []Command) string {
	var b strings.Builder
	b.WriteString(`#compdef jitinject perf-jitinject
# zsh completion for jitinject; made by: jitinject completion zsh

_jitinject_commands() {
	local -a commands=(
`)
	for _, c := range commands {
		fmt.Fprintf(&b, "\t\t%s\n", quote(c.Name+":"+c.Brief))
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
	for _, c := range commands {
		before := ""
		if c.Args.Kind == Program {
			before = ` -A "-*"` // options end at the first argument
		}
		fmt.Fprintf(&b, "\t(%s)\n\t\t_arguments -s -S%s \\\n", c.Name, before)
		for _, o := range c.Options {
			for _, spec := range zshSpecs(&o) {
				fmt.Fprintf(&b, "\t\t\t%s \\\n", quote(spec))
			}
		}
		args := "*:: :_nothing"
		switch {
		case c.Args.Kind == Program:
			fmt.Fprintf(&b, "\t\t\t%s \\\n", quote("(-)1:command: _command_names -e"))
			args = "*::argument: _normal"
		case c.Args.Kind.isWord():
			name := strings.ReplaceAll(strings.ToLower(strings.Trim(cmp.Or(c.Args.Name, "file"), "[].")), "|", " or ")
			args = "*:" + name + ":" + zshAction(c.Args)
		}
		fmt.Fprintf(&b, "\t\t\t%s\n\t\t;;\n", quote(args))
	}
	b.WriteString("\tesac\n}\n\n# Installed in fpath, or read by a shell.\nif [[ $funcstack[1] == _jitinject ]]; then\n\t_jitinject \"$@\"\nelse\n\tcompdef _jitinject jitinject perf-jitinject\nfi\n")
	return b.String()
}

// zshSpecs describes an option for _arguments: one line for each spelling.
func zshSpecs(o *Option) (specs []string) {
	repeat := "(" + strings.Join(o.spellings(), " ") + ")"
	if o.Repeats {
		repeat = "*"
	}
	text := strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, ":", `\:`).Replace(o.Text)
	for _, s := range o.spellings() {
		value := ""
		switch {
		case o.Value.Kind.isWord():
			value = ":" + strings.ReplaceAll(o.Value.Name, ":", " ") + ":" + zshAction(o.Value)
			if strings.HasPrefix(s, "--") {
				s += "="
			} else {
				s += "+"
			}
		case o.Value.Kind == Optional:
			s += "-"
			if strings.HasPrefix(s, "--") {
				s = strings.TrimSuffix(s, "-") + "=-"
			}
			value = "::" + o.Value.Name + ": "
		}
		specs = append(specs, repeat+s+"["+text+"]"+value)
	}
	return specs
}

// zshAction returns the action of _arguments for a value.
func zshAction(v Value) string {
	switch v.Kind {
	case Word:
		return "(" + strings.Join(v.Words, " ") + ")"
	case File:
		if len(v.Words) == 1 { // in parentheses at the end, it would be a qualifier
			return `_files -g "` + v.Words[0] + `"`
		}
		return `_files -g "(` + strings.Join(v.Words, "|") + `)"`
	case Dir:
		return "_files -/"
	}
	return " "
}
