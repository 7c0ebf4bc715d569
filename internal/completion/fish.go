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

# The words of a command line that begins after options; it fails if there are none. The arguments are
# options that have the next word as their value.
function __jitinject_program
	set -l words (commandline -opc)
	set -e words[1..2]
	while set -q words[1]
		set -l word $words[1]
		if test "$word" = --
			set -e words[1]
			break
		else if not string match -q -- '-*' $word
			break
		else if contains -- $word $argv
			set -e words[1]
			set -q words[1]; or return 1
		end
		set -e words[1]
	end
	set -q words[1]; or return 1
	string escape -- $words
end

# What fish offers for such a command line, or for its first word.
function __jitinject_of_program
	set -l token (commandline -ct)
	if set -l words (__jitinject_program $argv)
		complete -C "$words $token"
	else if not string match -q -- '-*' $token
		complete -C "$token"
	end
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
			is := "__jitinject_is " + c.Name
			if c.Args.Kind == Program {
				is += "; and not __jitinject_program " + c.valued() + " >/dev/null"
			}
			for _, o := range c.Options {
				line := fmt.Sprintf("complete -c %s -n '%s'", program, is)
				if o.Short != "" {
					line += " -s " + o.Short
				}
				if o.Long != "" {
					line += " -l " + o.Long
				}
				fmt.Fprintf(&b, "%s -d %s%s\n", line, quote(o.Text), fishAction(o.Value, " -x"))
			}
			args := fmt.Sprintf("complete -c %s -n '__jitinject_is %s; and not __jitinject_first'", program, c.Name)
			switch {
			case c.Args.Kind == Program:
				fmt.Fprintf(&b, "%s -a '(__jitinject_of_program %s)'\n", args, c.valued())
			case c.Args.Kind.isWord():
				fmt.Fprintf(&b, "%s%s\n", args, fishAction(c.Args, ""))
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
