// Package journal records the files that a run makes. If the run crashes or has to be abandoned,
// another process reads the journal and removes them ([Read]).
//
// The journal is in memory that both processes share ([Begin]). Appending to it is no system call,
// so it costs nothing for each object. Without Begin, nothing is recorded: programs that use package
// inject need no journal.
//
//	header   8 bytes   size of the journal, this header included
//	         8 bytes   bit 0: all files stay; bit 1: records are missing;
//	                   bit 2: the result goes to a pipe; bit 3: the result is complete
//	record   4 bytes   kind
//	         4 bytes   number of the directory, by the records of directories
//	         8 bytes   inode number, or 0
//	         4 bytes   file type of a partial file, descriptor of a lock, or hash of an object's name
//	         4 bytes   length of the name
//	         ...       name, padded to 8 bytes
//
// Numbers have the byte order of the machine's processor; only this machine reads them.
package journal
