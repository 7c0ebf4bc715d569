// Package v8log reads V8's log: the text file that V8 writes with --log-code --log-source-code,
// called v8.log, or isolate-0x…-PID-v8.log; see [ProcessOf].
//
// A line is a record. Its fields are separated by commas; the first one is its kind. The source of
// the rules is V8's src/logging/log.cc (V8FileLogger) and src/logging/log-file.cc (escapes), the
// same from V8 11 to 14 (node 20 to 25). V8's own reader is tools/profile.mjs.
//
//	kind              fields
//	v8-version        major, minor, build, patch, [embedder], candidate: the first line of an isolate
//	code-creation     tag, kind, time, address, size, name [, SFI, tier]
//	                  time: microseconds since the isolate's log began. SFI: address of the
//	                  SharedFunctionInfo, of functions only. Tier: ~ bytecode, ^ baseline,
//	                  + Maglev, * Turbofan; with o before them for code that replaced a running
//	                  loop, and ' after them by whether it depends on a context
//	code-source-info  address, script, start, end, positions, inlining, functions
//	                  follows the code-creation of its address. start, end: extent of the function
//	                  in the script
//	script-source     script, URL, text: precedes the first code-source-info of the script
//	sfi-move          from, to: the collector moved a SharedFunctionInfo
//	code-move         from, to: the collector moved code
//	code-delete       address
//
// The three last fields of code-source-info are lists without separators:
//
//	positions   C code offset  O script offset  [I index in inlining]
//	inlining    F [index in functions]  O script offset of the call  [I index of the caller]
//	functions   S address of a SharedFunctionInfo
//
// An entry of inlining without I is called by the function itself. F without an index is the
// function itself, too: it calls itself, perhaps by way of others. Script offsets count UTF-16 code
// units. An offset of an inlined entry counts in the script of the inlined function.
//
// Escapes are \\, \n, \xNN and \uNNNN, each for one UTF-16 code unit of a URL or a text. The name
// of a function's code is the function's name, a space, the URL, and ":LINE:COLUMN". Of these only
// the URL is escaped: the function's name is UTF-8 with commas, backslashes and newlines as they
// are. So a code-creation may have more commas and take several lines. V8's own reader splits and
// unescapes such names wrongly.
//
// The last line of a killed process may be cut. Isolates that share a file, as with node's workers
// and --no-logfile-per-isolate, overwrite each other's lines; lines that are damaged have errors.
//
// A [Reader] needs a constant amount of memory for any size of the log and of its lines: a
// text has the length of a program. Large fields are left as a [Span] of the file.
package v8log
