// Package checkmono checks logs of Mono's log profiler, alone and beside recordings.
package checkmono
