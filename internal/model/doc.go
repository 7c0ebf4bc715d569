// Package model holds the data that the stages of a run pass on. It makes no decisions. A [Dump]
// was found for a process, an [Object] is made of its functions, and a [Mapping] tells perf where
// an object lies. A [Plan] has all of these.
package model
