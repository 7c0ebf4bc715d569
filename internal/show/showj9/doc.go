// Package showj9 shows OpenJ9's metadata of compiled code. A capture is a file of it; jitdumps hold it
// in records, for which showjitdump uses [Body].
//
// Each section of a body is an item, in the order of the memory, with its entries if inlined calls and
// exceptions need them. Then comes what they mean together: the inlined calls at each part of the code.
// The package takes names of methods in the form of jitdumps, as jitdump.JavaMethod. It knows no other
// format.
package showj9
