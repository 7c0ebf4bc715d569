package watcher

import "golang.org/x/sys/unix"

//lint:file-ignore U1000 the assembly uses all of these

// Exit codes.
const (
	exitFailed = 255 // nothing was written
	exitCrash  = 2   // of Go's runtime
	// ExitAbandoned makes the watcher start the program in mode After, which removes the files
	// of this run.
	ExitAbandoned = 254
)

// memorySize is the size of the shared memory, in bytes. Pages that are never written take no
// memory.
const memorySize = 16 << 20

// A shared has what the watcher and Go's code share. The watcher fills it in before it forks, so
// each process has a copy.
type shared struct {
	mode   Mode
	status int32   // wait status of the watched process, in mode After
	stderr int32   // copy of standard error
	file   int32   // memfd that is descriptor 2 of the others; 0 without one
	memory uintptr // address of the shared memory, or 0

	// The watcher's own variables follow.
	self, child int32
	signals     uint64   // set of signals that it waits for
	mask        uint64   // signal mask at the start
	zero        [32]byte // an action by default, and an empty set
	info        [128]byte
	name        [16]byte    // of file
	usage       unix.Rusage // of the process that has ended
	text        [8192]byte

	noThreads, noMemory, unknown string
}

// forwarded is the set of the signals that the watcher passes on.
const forwarded = 1<<(unix.SIGHUP-1) | 1<<(unix.SIGINT-1) | 1<<(unix.SIGQUIT-1) | 1<<(unix.SIGUSR1-1) |
	1<<(unix.SIGUSR2-1) | 1<<(unix.SIGPIPE-1) | 1<<(unix.SIGALRM-1) | 1<<(unix.SIGTERM-1)

var state = shared{
	signals: forwarded | 1<<(unix.SIGCHLD-1) | 1<<(unix.SIGCONT-1),
	name:    [16]byte{'j', 'i', 't', 'i', 'n', 'j', 'e', 'c', 't'},

	noThreads: "jitinject: no thread or process can be started; raise the limit of the user (ulimit -u) or of the cgroup (pids.max), or end other programs; files of this run may be left, and the next run with the same output removes or uses them\n",
	noMemory:  "jitinject: there is too little memory; raise the limit (ulimit -v, memory.max of the cgroup), or end other programs; files of this run may be left, and the next run with the same output removes or uses them\n",
	unknown:   "jitinject: it has crashed, and so has the process that removes its files and reports the cause; perhaps there is too little memory (ulimit -v, memory.max of the cgroup), or the limit of open files (ulimit -n) or of CPU time (ulimit -t) is too low; files of this run may be left, and the next run with the same output removes or uses them\n",
}
