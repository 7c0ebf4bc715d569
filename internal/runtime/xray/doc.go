// Package xray reads traces of LLVM's XRay as events of calls, and finds their processes and
// programs.
//
// A [Log] consists of the buffers of threads (log.go, piece.go). Its times are counts of the
// processor's clock; anchors in records convert them (clock.go). After a fork, several processes
// may have written one trace, which is then divided (fork.go). A trace names functions by numbers,
// and the program that wrote it defines them (program.go). cover.go computes which part of a
// process's life a trace covers.
package xray
