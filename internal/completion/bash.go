package completion

import (
	"fmt"
	"slices"
	"strings"
)

// bash returns a script for bash 4 or newer. It does not need the package bash-completion, which
// finds it as completions/jitinject.
func bash(commands []Command) string {
	var b strings.Builder
	b.WriteString("# bash completion for jitinject; made by: jitinject completion bash\n")
	b.WriteString(`
# Words for the one that is being typed, of some patterns; a directory's name goes on.
_jitinject_files() {
	local IFS=$'\n' f p
	compopt -o filenames 2>/dev/null
	for f in $(compgen -f -- "$cur"); do
		if [[ -d $f ]]; then
			COMPREPLY+=("$f")
			continue
		fi
		for p in "$@"; do
			if [[ ${f##*/} == $p ]]; then
				COMPREPLY+=("$f")
				break
			fi
		done
	done
	[[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$cur"))
}

_jitinject_dirs() {
	local IFS=$'\n'
	compopt -o filenames 2>/dev/null
	COMPREPLY=($(compgen -d -- "$cur"))
}

# Words of a command line after options. Some options have the next word as their value.
# It fails while the word that is being typed is an option or a value.
_jitinject_program() {
	local i=2 ended= word
	while (( i < COMP_CWORD )); do
		word=${COMP_WORDS[i]}
		if [[ $word == -- ]]; then
			ended=1
			(( i++ ))
			break
		elif [[ $word != -* ]]; then
			break
		elif [[ ${COMP_WORDS[i+1]} == "=" ]]; then
			(( i += 2 ))
		elif [[ " $1 " == *" $word "* ]]; then
			(( i++ ))
		fi
		(( i++ ))
	done
	if (( i > COMP_CWORD )) || [[ $i -eq $COMP_CWORD && -z $ended && $cur == -* ]]; then
		return 1
	fi
	local f IFS=$'\n'
	for f in _comp_command_offset _command_offset; do # of bash-completion
		if declare -F $f >/dev/null; then
			IFS=$' \t\n'
			$f $i
			return 0
		fi
	done
	compopt -o filenames 2>/dev/null
	if (( i == COMP_CWORD )); then
		COMPREPLY=($(compgen -c -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
	return 0
}

_jitinject() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev= command=inject options= i
	COMPREPLY=()
	[[ $COMP_CWORD -gt 0 ]] && prev=${COMP_WORDS[COMP_CWORD-1]}
	# bash makes three words of --option=value.
	if [[ $cur == "=" ]]; then
		cur=
	elif [[ $prev == "=" && $COMP_CWORD -gt 1 ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	if [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} != -* ]]; then
		command=${COMP_WORDS[1]}
	fi
`)
	for _, c := range commands {
		if c.Args.Kind == Program {
			fmt.Fprintf(&b, "\tif [[ $command == %s && $COMP_CWORD -gt 1 ]] && _jitinject_program %s; then\n\t\treturn\n\tfi\n", c.Name, quote(c.valued()))
		}
	}
	b.WriteString("\tcase $command:$prev in\n")
	for _, c := range commands {
		for _, o := range c.Options {
			if !o.Value.Kind.isWord() {
				continue
			}
			var patterns []string
			for _, s := range o.spellings() {
				patterns = append(patterns, c.Name+":"+s)
			}
			fmt.Fprintf(&b, "\t%s) %s; return ;;\n", strings.Join(patterns, "|"), bashAction(o.Value))
		}
	}
	b.WriteString("\tesac\n\tcase $command in\n")
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
		var options []string
		for _, o := range c.Options {
			options = append(options, o.spellings()...)
		}
		fmt.Fprintf(&b, "\t%s)\n\t\toptions=%s\n\t\t[[ $cur == -* || $COMP_CWORD -eq 1 ]] || %s ;;\n", c.Name, quote(strings.Join(options, " ")), bashAction(c.Args))
	}
	slices.Sort(names)
	fmt.Fprintf(&b, `	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
	elif [[ $COMP_CWORD -eq 1 ]]; then
		COMPREPLY=($(compgen -W %s -- "$cur"))
	fi
}

complete -F _jitinject jitinject perf-jitinject
`, quote(strings.Join(names, " ")))
	return b.String()
}

// bashAction returns the command that fills COMPREPLY.
func bashAction(v Value) string {
	switch v.Kind {
	case Word:
		return fmt.Sprintf(`COMPREPLY=($(compgen -W %s -- "$cur"))`, quote(strings.Join(v.Words, " ")))
	case File:
		return "_jitinject_files '" + strings.Join(v.Words, "' '") + "'"
	case Dir:
		return "_jitinject_dirs"
	}
	return ":"
}
