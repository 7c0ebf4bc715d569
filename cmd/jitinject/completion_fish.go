package main

import (
	"fmt"
	"strings"
)

// fishCompletion is a script for fish, to be called jitinject.fish.
func fishCompletion() string {
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
		for _, c := range commands() {
			fmt.Fprintf(&b, "complete -c %s -n __jitinject_first -a %s -d %s\n", program, c.name, singly(c.brief))
		}
		for _, c := range commands() {
			is := fmt.Sprintf("complete -c %s -n '__jitinject_is %s'", program, c.name)
			for _, f := range visible(c.options()) {
				line := is
				if f.Shorthand != "" {
					line += " -s " + f.Shorthand
				}
				what, words := takes(f)
				fmt.Fprintf(&b, "%s -l %s -d %s%s\n", line, f.Name, singly(plain(f)), fishAction(what, words, " -x"))
			}
			if what, words := c.takesArgs(); what != takesNothing {
				fmt.Fprintf(&b, "%s; and not __jitinject_first'%s\n", strings.TrimSuffix(is, "'"), fishAction(what, words, ""))
			}
		}
	}
	return b.String()
}

// fishAction says what to complete; required is put in front where a value must come.
func fishAction(what taker, words []string, required string) string {
	switch what {
	case takesText:
		return required
	case takesWord:
		return required + " -a " + singly(strings.Join(words, " "))
	case takesFile:
		return required + ` -a '(__jitinject_files "` + strings.Join(words, `" "`) + `")'`
	case takesDir:
		return required + " -a '(__fish_complete_directories)'"
	}
	return ""
}
