// Package listing shows machine code as instructions, with the source lines, inlined calls and marks
// that its caller has for it. It knows machines (disasm.go; vex.go adds AVX, which the library for x86
// lacks), and no format of files.
package listing
