// Package procmem reads the memory of running processes, through /proc. A process looks like a core
// dump of it: it has memory, segments and mapped files.
//
// A [Process] is bound to the program that it was opened with. Once the process ends or runs another
// program, reads fail with [ErrEnded]: they never return the memory of another one. Nothing stops the
// process, so two reads may see different states of it.
//
// Source: proc(5) and proc_pid_maps(5). A reader needs the permission to attach a debugger: see
// [AdviceAllowed].
package procmem
