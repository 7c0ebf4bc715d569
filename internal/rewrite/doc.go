// Package rewrite copies a recording through and puts the mappings of a plan in. Markers
// and anonymous memory of processes with dumps are left out: they would hide functions.
//
// perf reads records in rounds: FINISHED_ROUND promises that nothing later is older than
// the end of the round before. A new record goes in front of the first one that is not
// older. That keeps the promise, for any number of CPUs and without looking at the rounds.
package rewrite
