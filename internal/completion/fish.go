package completion

import (
	"fmt"
	"strings"
)

// fish returns a script for fish, in a file called jitinject.fish.
func fish(commands []Command) string {
	var b strings.Builder
	b.WriteString(`# fish completion for jitinject; made by: jitinject completion fish

# The command that the line is about.
function __jitinject_is
	set -l words (commandline -opc)
	set -l command inject
	if set -q words[2]; and not string match -q -- '-*' $words[2]
		set command $words[2]
	end
	test "$command" = "$argv[1]"
end

function __jitinject_first
	test (count (commandline -opc)) -eq 1
end

function __jitinject_files
	set -l token (commandline -ct | string replace -r '^-[^=]*=' '')
	# What fish itself offers, which knows of ~, variables and quotes.
	set -l all
	set -l found
	for f in (complete -C "__fish_command_without_completions $token")
		set -l path (string split -f 1 \t -- $f)
		if string match -q -- '*/' $path
			echo $path
			continue
		end
		set -a all $path
		for p in $argv
			if string match -q -- $p (string replace -r '.*/' '' -- $path)
				set -a found $path
				break
			end
		end
	end
	if set -q found[1]
		printf '%s\n' $found
	else if set -q all[1]
		printf '%s\n' $all
	end
end

`)
	for _, program := range []string{"jitinject", "perf-jitinject"} {
		fmt.Fprintf(&b, "complete -c %s -f\n", program)
		for _, c := range commands {
			fmt.Fprintf(&b, "complete -c %s -n __jitinject_first -a %s -d %s\n", program, c.Name, quote(c.Brief))
		}
		for _, c := range commands {
			is := fmt.Sprintf("complete -c %s -n '__jitinject_is %s'", program, c.Name)
			for _, o := range c.Options {
				line := is
				if o.Short != "" {
					line += " -s " + o.Short
				}
				fmt.Fprintf(&b, "%s -l %s -d %s%s\n", line, o.Long, quote(o.Text), fishAction(o.Value, " -x"))
			}
			if c.Args.Kind.isWord() {
				fmt.Fprintf(&b, "%s; and not __jitinject_first'%s\n", strings.TrimSuffix(is, "'"), fishAction(c.Args, ""))
			}
		}
	}
	return b.String()
}

// fishAction returns the options of complete for a value. It puts required before those of a value
// that must come.
func fishAction(v Value, required string) string {
	switch v.Kind {
	case Text:
		return required
	case Word:
		return required + " -a " + quote(strings.Join(v.Words, " "))
	case File:
		return required + ` -a '(__jitinject_files "` + strings.Join(v.Words, `" "`) + `")'`
	case Dir:
		return required + " -a '(__fish_complete_directories)'"
	}
	return ""
}
