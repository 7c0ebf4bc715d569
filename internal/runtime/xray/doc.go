// Package xray opens traces of LLVM's XRay, and finds their processes and programs.
//
// A trace names functions by numbers. Which function a number means says the program that
// wrote it (program.go). What share of a process's life a trace covers says cover.go.
package xray
