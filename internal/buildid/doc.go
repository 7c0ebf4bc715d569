// Package buildid reads the build ids of programs and libraries, by which two files are
// known to be of one build. It knows nothing of recordings, which have build ids of their own.
//
// A build id is the description of a note, in the byte order of the file
// [gABI, Note Section; NT_GNU_BUILD_ID]:
//
//	u32 name size, u32 description size, u32 type, name (padded to 4), description
package buildid
