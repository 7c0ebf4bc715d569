// Package quote prints the contents of untrusted files and recordings. A terminal executes none of
// it ([Printable]), a shell reads it as one word ([ShellWord]), and filepath.Glob matches it
// literally ([Literal]).
package quote
