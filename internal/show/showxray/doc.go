// Package showxray shows the records of traces of LLVM's XRay. Names of functions come from the program
// that wrote the trace, if it was named. The package knows no other format.
package showxray
