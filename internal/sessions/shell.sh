# What a session's lines that begin with "|" may use.

# The first lines of perf report or script, without comments and warnings.
report() { grep -v -e '^#' -e '^ *$' -e '^Warning' -e 'vmlinux' -e 'kptr_restrict' -e '^addr2line' | first "$1"; }

# The first lines of anything.
first() { awk -v n="$1" 'NR <= n { print } NR == n + 1 { more = 1 } END { if (more) print "..." }'; }

# Lines from the first that has A to the last before one that has B.
part() { awk -v a="$1" -v b="$2" 'index($0, a) { on = 1 } b != "" && on && index($0, b) { exit } on { print }'; }
