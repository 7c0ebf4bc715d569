// Package showj9 shows metadata of OpenJ9's compiled code: captures, which are files of their own, and
// a [Body] for others who find it in their files, which are jitdumps.
//
// A body is shown section by section as it lies in memory, then its inlined calls by parts of the code,
// and the code itself as instructions with exception ranges between them. The package does not know in
// what kind of file a body was, and no other format.
package showj9
