// Package listing shows machine code as instructions, with the source lines and inlined calls that its
// caller has for it. It knows machines, and no format of files.
package listing
