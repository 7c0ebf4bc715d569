// Package quote prints what files and recordings contain, which may be anything: so that a
// terminal obeys none of it ([Printable]), a shell takes it as one word ([ShellWord]), and
// filepath.Glob takes it literally ([Literal]).
package quote
