// Package locate finds the side files of a recording.
//
// Markers about one file become a [Claim]. A [Finder] opens candidates for each claim:
// where the file was recorded, in the processes that still run, beside the recording, in
// the directories that were named. It settles which candidate belongs to which claim; one
// that cannot be the process's own is refused, with the reason.
package locate
