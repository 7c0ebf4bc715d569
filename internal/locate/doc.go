// Package locate finds the side files of a recording.
//
// Markers about one file become a [Reference]. [Finder.Search] lists the files that may be its dump, and
// how each was found: where it was recorded, in the processes that still run, beside the recording, in
// the directories that the user names. One pass judges them by their contents, and gives each process its
// files. A file that cannot be the process's own is refused, with the reason. When a dump has its
// processes, its clock is matched, once.
package locate
