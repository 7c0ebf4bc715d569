#!/bin/sh
# A perf for perf's own tests, with jitinject in the place of perf inject --jit. PERF, JITINJECT and
# NOPLOOP are the programs, CACHE_ADD is one that adds a file to a build-id cache. INJECTED gets what
# jitinject says. What the tests record of perf's own workload, noploop, is a result of jitinject.
case "$1 $2 $3" in
"test -w noploop") exec "$NOPLOOP" ;;
"test -vv -F") echo " noploop" && exit ;; # a distribution's perf has no symbols
esac
if [ "$1 $3 $4 $5" = "--buildid-dir buildid-cache -v -a" ]; then
	echo "added: $6" >>"$INJECTED"
	exec "$CACHE_ADD" "$2" "$6" "$(readelf -n "$6" | awk '/Build ID/ { print $3 }')"
fi
case "$1 $* " in
"inject inject "*" -j "* | "inject inject "*" --jit "*)
	shift
	exec "$JITINJECT" "$@" 2>>"$INJECTED"
	;;
"record record "*" -o - "*"test -w noploop "*) "$PERF" "$@" | "$JITINJECT" -i - -o - 2>>"$INJECTED" ;;
"record record "*"test -w noploop "*)
	"$PERF" "$@" || exit
	while [ "$1" != -o ]; do shift; done
	"$JITINJECT" -i "$2" -o "$2.jit" 2>>"$INJECTED" && mv "$2.jit" "$2"
	;;
*) exec "$PERF" "$@" ;;
esac
