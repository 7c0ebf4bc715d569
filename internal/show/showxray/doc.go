// Package showxray shows traces of LLVM's XRay: their records, or a table of calls as llvm-xray account
// makes it. Names of functions come from the program that wrote the trace, if it was named. The package knows no other
// format.
package showxray
