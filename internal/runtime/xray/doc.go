// Package xray reads traces of LLVM's XRay as events of calls, and finds their processes and
// programs.
//
// A [Log] consists of the buffers of threads (log.go, piece.go). Its times count the processor's
// clock, for which records give anchors (clock.go). A trace that several processes wrote after a
// fork is divided (fork.go). A trace names functions by numbers; the program that wrote it says
// which they are (program.go). cover.go says which part of a process's life a trace covers.
package xray
