// Package jitcode is the common model of JIT code, for all input formats and all outputs.
//
//	Event      a change of code at a time: it was loaded, or moved
//	Function   one piece of code: name, bytes, source lines, inlined calls, frames
//
// Events are small and kept for a whole run. A Function is made from its source when its object is
// built, and dropped after that. So memory grows with the number of functions and not with their
// code.
//
// The package does no input or output, and imports no other package of this module.
package jitcode
