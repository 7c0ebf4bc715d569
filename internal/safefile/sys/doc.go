// Package sys makes the system calls on files that the engine needs. All of them pass one seam:
// [Use] lets a test see each call, fail it, or record it. Without a test, the seam costs one
// atomic load a call.
//
//	file.go    File: an open file, as os.File is
//	at.go      calls with descriptors of directories: openat, renameat, …
//	paths.go   calls with paths: stat, mkdir, readdir, …
//	root.go    Root: names that do not lead out of a directory, as os.Root is
//	sync.go    what makes written data survive a power cut
//
// Errors are those of package os and of golang.org/x/sys/unix: the functions with descriptors
// return an errno, the others an *fs.PathError. A call that a signal interrupts (EINTR) is repeated
// [maxInterrupts] times at most.
package sys
