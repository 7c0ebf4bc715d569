// Package faults is for tests only: it makes system calls fail, and computes what a power cut leaves
// of the files that a run writes. It sees the calls through the seam of internal/safefile/sys.
//
//	inject.go   a fault: the N-th call fails, once or from then on
//	errnos.go   the errors that each call may return
//	tree.go     the files of a directory, to compare before and after
//	record.go   the writes, renames and syncs of a run, in order
//	crash.go    the states of the disk that they allow
package faults
