// Package jitcode is the model that the whole house agrees on: what jitted code
// is, whatever file it was read from and whatever is written about it.
//
//	Event      something happened to code at a time: it was loaded, or moved
//	Function   one piece of code: name, bytes, source lines, inlined calls, frames
//
// Events are small and kept for a whole run; a Function is made from its source
// when its object is built, and dropped after that. So memory grows with the
// number of functions and not with their code.
//
// The package does no input or output and imports nothing of ours.
package jitcode
