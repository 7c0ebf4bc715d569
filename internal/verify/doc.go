// Package verify is the core of `jitinject verify`: rules, complaints about files that break them,
// and the [Verifier], which finds out a file's format and has the file checked. It knows no format.
//
// A format has a package below: checkdump, checkmap, checkgdbjit, checkrecording and checkobject.
// checkproducer reports what valid dumps lack. Each has a table of its rules, in rules.txt: the
// statement that must hold, the usual cause if it does not, and the advice. `jitinject verify
// --explain` prints these. Logs of V8 and Mono, traces of XRay and captures of OpenJ9's metadata are
// not checked: only a runtime writes them, and their readers report damage.
//
// internal/formats/checks lists the formats with their checks, and makes the Verifier.
//
// The checks read with the codecs, with debug/elf and debug/dwarf, and by themselves. They share no
// code with what writes objects or mappings: they are a second opinion on results. They do
// not repeat an injection's findings: faults between a recording and its side files, which package printed
// shows first, and quirks of dumps that the engine proves and fixes. No input makes a check panic.
//
// # Severity
//
// An error costs names, lines or stacks, or makes them false, in some tool that people
// use. A warning is a departure that readers cope with. A note is something to know.
package verify
