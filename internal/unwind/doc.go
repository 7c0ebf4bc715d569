// Package unwind decides which dumps get unwind tables that are derived from their code, and finds
// what deriving needs of the recording.
//
//	derive.go       the decision, and what may prevent perf from unwinding
//	interpreter.go  the frame of an interpreter that traces run in
//
// A source derives the rows when its functions are read: package cfi. Where the tables lie is decided by
// package plan.
package unwind
