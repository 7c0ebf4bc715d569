// Package model holds the data that the stages of a run hand on, with no rules in it:
// the [Dump] that was found for a process, the [Object]s to be made of its functions, the
// [Mapping]s that will tell perf of them, and the [Plan] with all of these.
package model
