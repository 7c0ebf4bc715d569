package perfrun

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/addr2line"
)

// An Ending says how perf ended.
type Ending struct {
	Code   int         // exit code; 128 and the number of a signal
	Signal unix.Signal // that ended it, or 0
}

// Run runs perf with the process's standard streams, until it ends. self is the path of jitinject. Run
// changes limits of the process. It fails if perf cannot be started.
//
// Without a place for the filter, perf runs without it, and stderr says so.
func Run(perf, self string, args []string, stderr io.Writer) (Ending, error) {
	signals := make(chan os.Signal, 16)
	for _, sig := range []os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	defer signal.Stop(signals)
	env := os.Environ()
	if real, _ := addr2line.Find(os.Getenv("PATH")); real != "" {
		dir, err := makeFilter(self, real)
		if err != nil {
			fmt.Fprintf(stderr, "jitinject: perf may be slow, because its addr2line cannot be replaced: %v\n", err)
		} else {
			defer removeFilter(dir)
			env = slices.DeleteFunc(env, func(variable string) bool { return strings.HasPrefix(variable, "PATH=") })
			env = append(env, "PATH="+dir+":"+os.Getenv("PATH"))
		}
	}
	raiseOpenFiles()
	cmd := exec.Command(perf, args...)
	cmd.Args[0] = "perf"
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGTERM}
	runtime.LockOSThread() // the kernel sends Pdeathsig when the thread ends
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return Ending{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals: // perf got those of the terminal, too; a second one has no effect
			cmd.Process.Signal(sig)
		case err := <-ended:
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				return Ending{}, err
			}
			return endingOf(cmd.ProcessState), nil
		}
	}
}

func endingOf(state *os.ProcessState) Ending {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Ending{128 + int(status.Signal()), status.Signal()}
	}
	return Ending{Code: state.ExitCode()}
}

// raiseOpenFiles raises the limit of open files to the hard limit, for this process and those that it
// starts. Go raises its own limit at the start, and gives back the old one to the programs that it
// starts, unless the limit was set in the program.
func raiseOpenFiles() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		limit.Cur = limit.Max
		unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	}
}

// End ends the process as perf ended. It does not return.
func (e Ending) End() {
	if e.Signal != 0 {
		// Go's runtime handles signals. A shell has default actions, and so ends by any signal.
		// Without a dump of its memory: perf's was written, if it was wanted.
		unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
		code := strconv.Itoa(e.Code)
		unix.Exec("/bin/sh", []string{"sh", "-c", "kill -" + strconv.Itoa(int(e.Signal)) + " $$; exit " + code}, os.Environ())
	}
	os.Exit(e.Code)
}
