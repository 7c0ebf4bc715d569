#compdef jitinject perf-jitinject
# zsh completion for jitinject; made by: jitinject completion zsh

_jitinject() {
	local line
	local -a offer patterns candidates
	offer=("${(@f)$(${~words[1]} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	patterns=(${=offer[1]#* })
	[[ $PREFIX != -*=* ]] || compset -P '*='
	case $offer[1] in
	(words)
		for line in "${(@)offer[2,-1]}"; do
			candidates+=("${${line%%$'\t'*}//:/\\:}")
			[[ $line != *$'\t'* ]] || candidates[-1]+=:${line#*$'\t'}
		done
		_describe -t words word candidates
		;;
	(files*)
		if (( $#patterns == 1 )); then # in parentheses at the end, it would be a qualifier
			_files -g "$patterns"
		else
			_files -g "(${(j:|:)patterns})"
		fi
		;;
	(dirs) _files -/ ;;
	(command*)
		shift $(( CURRENT - patterns[1] )) words
		CURRENT=$patterns[1]
		if (( CURRENT == 1 )); then
			_command_names -e
		else
			_normal
		fi
		;;
	esac
}

# Installed in fpath, or read by a shell.
if [[ $funcstack[1] == _jitinject ]]; then
	_jitinject "$@"
else
	compdef _jitinject jitinject perf-jitinject
fi
