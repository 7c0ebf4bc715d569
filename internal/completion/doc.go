// Package completion has scripts that complete command lines in shells. A script runs the program's hidden
// command __complete with the words up to the one that is being typed, and offers what that prints: see [Complete].
package completion
