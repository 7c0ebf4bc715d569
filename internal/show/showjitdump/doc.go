// Package showjitdump shows jitdumps: the records one by one, with -d the code with the lines, inlined
// calls and texts that the dump has for it, as the runtimes' room repairs them.
//
// With a filter, records that describe a function wait until that is loaded, for only then is it known
// whether they are wanted. Metadata of OpenJ9 is a record of a jitdump: showj9 shows what is in it. The package
// knows no other format.
package showjitdump
