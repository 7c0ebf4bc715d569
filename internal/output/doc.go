// Package output writes the result of a run: a file, a directory or a pipe, compressed or
// not. It appears under its name as a whole or not at all; what was there before is kept as
// NAME.old.
package output
