// Package metadata turns the metadata of a body that OpenJ9 compiled into lines and inlined
// calls. It does not know whether the metadata came in a jitdump or in a capture.
//
// Stack maps say which byte code a range of the code belongs to. A [Code] is all of a body, or
// its warm or cold part. [Code.Lines] makes of it a record of inlined calls, the one that
// jitdump.DebugInfo2 describes. A method without known lines gets a listing of its byte codes
// in place of a source file: line 1 is the byte code of index 0.
package metadata
