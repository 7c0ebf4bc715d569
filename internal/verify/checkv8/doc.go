// Package checkv8 checks logs of V8, alone and beside jitdumps.
//
// It reads logs by itself. The sources of the rules are V8's reader tools/profile.mjs and its
// logger, src/logging/log.cc and log-file.cc. Logs of real runtimes differ from these in places,
// and count there:
//
//   - The name of a function is not escaped, the name of its script is. A newline in the name
//     breaks the line in two.
//   - The address of a function is used again after a collection.
//   - An inlined call without the index of a function is of the compiled function itself.
//
// Kept are the starts of lines of each script, the extent of each function, and, beside dumps, the
// address and size of each piece of machine code.
package checkv8
