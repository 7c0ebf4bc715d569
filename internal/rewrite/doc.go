// Package rewrite copies a recording and inserts the mappings of a plan. It drops markers, and
// anonymous memory of processes with dumps: they would hide functions.
//
// perf reads records in rounds. FINISHED_ROUND promises that no later record is older than the
// end of the round before. A new record goes before the first one that is not older. That keeps
// the promise, for any number of CPUs and without reading the rounds.
package rewrite
