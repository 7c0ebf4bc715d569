// Package view writes a profile as one HTML page: a flame graph, a table of functions, their source
// and what was recorded.
//
// The page needs nothing else. It has its styles, its script and its data inside, loads nothing from
// the network, and works from a file. [Write] makes it from a [profile.Profile]; its files are in
// page/, and are put together without a build step.
//
// # Data
//
// The data is JSON in a script element that is not executed. It has a table of texts, and a run for
// each profile ([Options.Base] is the second):
//
//   - functions as columns: name, object, kind, file, line;
//   - the stacks as a tree in preorder: how many levels to go up before a node, its function, its line;
//   - samples added up by thread, event and node of that tree.
//
// The page makes all the rest from them: it merges nodes that differ only in their lines, reverses
// stacks, and adds up functions, callers, callees and lines of the chosen threads and event.
//
// # Names are hostile
//
// Names of functions, files, threads and commands come from programs that may want to attack the
// reader. Control characters are escaped as in the command's messages, and < as JSON allows, so that
// no name ends the element. The script writes texts into text nodes only. A Content-Security-Policy
// allows the page's own script and styles, by their hashes, and nothing else.
package view
