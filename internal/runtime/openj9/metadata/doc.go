// Package metadata turns the metadata of a body that OpenJ9 compiled into lines and inlined calls.
// The metadata may come from a jitdump or from a capture.
//
// Stack maps give the bytecode of each range of the code. A [Code] is all of a body, or its warm or
// cold part. [Code.Lines] makes a record of inlined calls from it, as jitdump.DebugInfo2 describes.
// A method without known lines gets a listing of its bytecodes in place of a source file: line 1 is
// the bytecode of index 0.
package metadata
