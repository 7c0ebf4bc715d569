// Package record runs perf record for a command whose runtimes write dumps, and keeps the dumps.
//
// The package knows the names of dumps and logs, and nothing of their formats. It goes through these steps:
//
//   - [Syntax.Split] separates perf record's options from the command. The installed perf lists
//     its options, so those of other versions are understood.
//   - [Environment] gets the variables that make runtimes write dumps.
//   - [Session.Begin] makes the directory for the files, and [Session.Run] runs perf record. perf
//     starts jitinject ([Exec]), which becomes the command. The command's environment comes through
//     a file in memory, because perf changes PATH and other variables of its own. perf has a process
//     group of its own, because it would send SIGTERM to the command after Ctrl-C. The command is in
//     jitinject's group, so the terminal treats it as if it were started alone.
//   - Meanwhile processes with a dump are traced up to their exit stop (ptrace(2),
//     PTRACE_EVENT_EXIT). There, what a process has in the buffer of its dump is appended to the
//     file. A process reaches the exit stop even if SIGKILL ends it.
//   - [Session.Collect] moves dumps, perf maps and logs into the directory. Files of processes that
//     still run are copied, with the unwritten end.
//
// Sources: perf-record(1), ptrace(2), setpgid(2), proc(5); the variables are from the manuals and
// sources of the runtimes.
package record
