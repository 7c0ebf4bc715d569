# Runs the lines of a session, which are in the file "lines" above the directory $1, in this
# directory. It exits with 77 if one of the further arguments is no command.

# What lines that begin with "|" may use:

# The first lines of perf report or script, without comments and warnings.
report() { grep -v -e '^#' -e '^ *$' -e '^Warning' -e 'vmlinux' -e 'kptr_restrict' -e '^addr2line' | first "$1"; }

# The first lines of anything.
first() { awk -v n="$1" 'NR <= n { print } NR == n + 1 { more = 1 } END { if (more) print "..." }'; }

# Lines from the first that has A to the last before one that has B.
part() { awk -v a="$1" -v b="$2" 'index($0, a) { on = 1 } b != "" && on && index($0, b) { exit } on { print }'; }

# Runs a line that begins with "$" or ":", shortens its output with $2, and ends if its exit code is not $3.
step() {
	case $1 in
	'$ '* | ': '*) ;;
	*) echo "no line of a session: $1"; exit 2 ;;
	esac
	# The output is a file: jitinject would write a result into a pipe.
	{ eval "${1#? }"; } >../out 2>&1 </dev/null
	set -- "$1" "$2" "$3" $?
	if [ "$3" != "$4" ]; then
		echo "$1: exit code $4, and not $3"
		cat ../out
		exit 1
	fi
	case $1 in '$ '*)
		echo "$1"
		set -- "$(eval "$2" <../out 2>&1 | sed 's/[[:space:]]*$//')"
		[ -z "$1" ] || printf '%s\n' "$1"
		;;
	esac
}

cd "$1" && shift || exit
for tool; do command -v "$tool" >/dev/null || { echo "no $tool"; exit 77; }; done
mapfile -t lines <../lines
for ((at = 0; at < ${#lines[@]}; at++)); do
	line=${lines[at]} filter=cat code=0
	case ${lines[at + 1]} in '| '*) filter=${lines[++at]#| } ;; esac
	case ${lines[at + 1]} in '= '*) code=${lines[++at]#= } ;; esac
	step "$line" "$filter" "$code"
done
