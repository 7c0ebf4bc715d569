// Package checkv8 checks logs of V8, alone and beside jitdumps.
//
// It reads logs by itself: V8's reader tools/profile.mjs and what writes the log, src/logging/log.cc
// and log-file.cc, are the source of the rules. Where logs of real runtimes differ from these tools,
// the logs count:
//
//   - The name of a function is not escaped, the name of its script is. A newline in the name
//     breaks the line in two.
//   - The address of a function is used again after a collection.
//   - An inlined call without the index of a function is of the compiled function itself.
//
// Kept are the starts of lines of each script, the extent of each function, and, beside dumps, the
// address and size of each piece of machine code.
package checkv8
