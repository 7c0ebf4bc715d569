// Package verify checks what takes part in an injection: the dumps and logs that runtimes
// write, the metadata that OpenJ9 keeps of compiled code, the recordings that perf and
// jitinject write, and the ELF objects of jitted functions.
//
// Each complaint breaks a rule, and the files that end in rules.go are the table of all of them: what has to
// hold, what the usual cause is when it does not, and what to do. docs/verify.md is
// made from that table.
//
// The package reads with the codecs, with debug/elf and debug/dwarf, and by itself; it
// shares no code with what writes dumps, objects or mappings. Recordings and dumps are
// walked from front to back: what is kept of them are mappings and functions, and
// nothing for each record or sample. No input makes it panic.
//
// # Severity
//
// An error costs names, lines or stacks, or makes them false, in some tool that people
// use. A warning is a departure that readers cope with. A note is something to know.
package verify
