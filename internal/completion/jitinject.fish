# fish completion for jitinject; made by: jitinject completion fish

# Files of some patterns, for a word of which a part is typed.
function __jitinject_files
	# What fish itself offers, which knows of ~, variables and quotes.
	set -l all
	set -l found
	for f in (complete -C "__fish_command_without_completions $argv[1]")
		set -l path (string split -f 1 \t -- $f)
		if string match -q -- '*/' $path
			echo $path
			continue
		end
		set -a all $path
		for p in $argv[2..]
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

function __jitinject
	set -l words (commandline -opc)
	set -l token (commandline -ct)
	set -l offer ($words[1] __complete $words[2..] "$token" 2>/dev/null); or return
	set -l first (string split ' ' -- $offer[1])
	set -l option (string match -r '^-[^=]*=' -- $token)
	set -l typed (string replace -r '^-[^=]*=' '' -- $token)
	switch $first[1]
	case words
		string replace -r '^' -- "$option" $offer[2..]
	case files
		string replace -r '^' -- "$option" (__jitinject_files "$typed" $first[2..])
	case dirs
		string replace -r '^' -- "$option" (__fish_complete_directories "$typed")
	case command
		set -l before
		test $first[2] -eq 1; or set before (string escape -- $words[(math 1 - $first[2])..-1])
		complete -C (string join ' ' -- $before "$token")
	end
end

for program in jitinject perf-jitinject
	complete -c $program -f -a '(__jitinject)'
end
