// Package completion writes scripts that complete the program's command lines in bash, zsh and fish.
// It knows the shells; the caller describes its commands and options.
package completion
