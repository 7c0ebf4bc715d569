// Package openj9 makes a dump of captures of OpenJ9's metadata: files that a debugger or an agent
// wrote, one pair for each compiled body.
//
// All captures of a process are one dump ([Captures]). Nothing in a recording names them. The
// user names files or directories (find.go); the process follows from what captures say, from
// where their code is, and from where samples are (owner.go). Each part of a body, warm or cold,
// is a function, with the lines and inlined calls that package metadata finds.
package openj9
