// Package showj9 shows OpenJ9's metadata of compiled code. A capture is a file of it; jitdumps hold it
// in records, for which showjitdump uses [Body].
//
// A body is shown section by section as it lies in memory, then its inlined calls by parts of the code,
// and with -d the code as instructions with exception ranges between them. The package does not know
// jitdumps, but takes names of methods in their form, as jitdump.JavaMethod. It knows no other format.
package showj9
