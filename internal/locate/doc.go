// Package locate finds the side files of a recording.
//
// Markers about one file become a [Reference]. A [Finder] opens candidates for each reference:
// where the file was recorded, in the processes that still run, beside the recording, in the
// directories that the user names. It assigns candidates to references. A candidate that cannot
// be the process's own is refused, with the reason.
package locate
