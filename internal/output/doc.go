// Package output writes the result of a run: a file, a directory or a pipe, compressed or not.
// The result appears under its name as a whole or not at all. An earlier result is kept as
// NAME.old.
package output
