// Package safefile opens and writes files in directories that other users may write to.
//
// A file is first written as .NAME.NUMBER.partial in its directory. It is locked while it is
// written, and renamed when it is complete ([Partial]). An unlocked partial file was left by a
// killed run, and the next run with the same NAME removes it. So does [RemoveLeft]. A process that
// has to exit in the middle removes its own ([RemovePartials]).
//
// [OpenDir] follows only symbolic links that belong to the user or to root. [Open] opens regular
// files only: a FIFO in the place of a dump would block.
package safefile
