// Package safefile opens and writes files in directories that other users may write to.
//
// A file is written beside the place where it will be, as .NAME.NUMBER.partial, locked as
// long as somebody writes it, and renamed when it is complete ([Partial]). What is not
// locked was left by a run that was killed, and the next run with the same NAME removes it.
//
// [OpenDir] follows only symbolic links that belong to the user or to root. [Open] opens
// regular files only: a FIFO in the place of a dump would block.
package safefile
