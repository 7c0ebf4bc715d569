// Package openj9 makes a dump from captures of OpenJ9's metadata. These are files that a debugger
// or an agent wrote, one pair for each compiled body.
//
// All captures of a process are one dump ([Captures]). A recording does not name them: the user
// names files or directories, and their process, unless the captures do (find.go). Each part of a
// body, warm or cold, is a function. Package metadata finds its lines and inlined calls.
package openj9
