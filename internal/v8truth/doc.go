// Package v8truth is a second reader of V8's log, for tests. It says which functions, at which
// places of their scripts, each byte of JavaScript's machine code comes from.
//
// The rules are those of V8's own tools (tools/logreader.mjs, csvparser.mjs, codemap.mjs and
// profile.mjs) and of its logger (src/logging/log.cc, log-file.cc). It shares no code
// with the engine, and differs from V8's tools where logs of real runtimes show them to be wrong:
//
//   - The name of a function is not escaped, but the name of its script is. Commas, backslashes
//     and newlines of the function's name are in the log as they are. V8's tools unescape the
//     whole, and split lines at such commas.
//   - A function's address that is used again, after a collection, is a new function. V8's tools
//     rename the old one.
//   - An inlined call without the index of a function is of the compiled function itself, as in
//     V8's DeoptimizationData::GetInlinedFunction.
//
// It reads whole files of one isolate, and a line that it does not understand is an error.
package v8truth
