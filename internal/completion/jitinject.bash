# bash completion for jitinject; made by: jitinject completion bash
# It needs bash 4, but not the package bash-completion, which finds it as completions/jitinject.

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

# The command line of another program, which begins at a word.
_jitinject_program() {
	local f
	for f in _comp_command_offset _command_offset; do # of bash-completion
		if declare -F $f >/dev/null; then
			$f $1
			return
		fi
	done
	local IFS=$'\n'
	compopt -o filenames 2>/dev/null
	if (( $1 == COMP_CWORD )); then
		COMPREPLY=($(compgen -c -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}

_jitinject() {
	local cur=${COMP_WORDS[COMP_CWORD]} word text glue= i n=-1
	local -a words at offer
	COMPREPLY=()
	# bash makes several words of --option=value and of cycles:u.
	for (( i = 1; i <= COMP_CWORD; i++ )); do
		word=${COMP_WORDS[i]}
		if [[ $n -ge 0 && ( -n $glue || $word == [=:] ) ]]; then
			words[n]+=$word
		else
			words[++n]=$word at[n]=$i
		fi
		glue=
		[[ $word != [=:] ]] || glue=1
	done
	[[ $cur != [=:] ]] || cur=
	while IFS= read -r text; do
		offer+=("$text")
	done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${words[@]}" 2>/dev/null)
	read -ra words <<<"${offer[0]}"
	case ${words[0]} in
	words)
		for text in "${offer[@]:1}"; do
			[[ $text != "$cur"* ]] || COMPREPLY+=("${text%%$'\t'*}")
		done ;;
	files) _jitinject_files "${words[@]:1}" ;;
	dirs)
		local IFS=$'\n'
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -d -- "$cur")) ;;
	command) _jitinject_program ${at[n + 1 - words[1]]} ;;
	esac
}

complete -F _jitinject jitinject perf-jitinject
