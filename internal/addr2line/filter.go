package addr2line

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// notFound is the exit code without a real addr2line, as that of a shell.
const notFound = 127

// IsFilter reports whether a program with these arguments was started as addr2line.
func IsFilter(args []string) bool { return len(args) > 0 && filepath.Base(args[0]) == Name }

// Filter runs the real addr2line with the same arguments, and filters its dialog with perf on
// standard input and output. It returns the exit code. If the arguments are not those of the dialog,
// the process becomes the real addr2line.
//
// The real one ends if the filter is killed, as perf 6.1 does.
func Filter(args []string) (code int) {
	real, rest := Find(os.Getenv("PATH"))
	if real == "" {
		os.Stderr.WriteString("jitinject: no other addr2line is in PATH\n")
		return notFound
	}
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "PATH=") })
	if rest != "" {
		env = append(env, "PATH="+rest)
	}
	wantsAddress, is := isDialog(args[1:])
	if !is {
		err := unix.Exec(real, append([]string{real}, args[1:]...), env)
		os.Stderr.WriteString("jitinject: " + real + ": " + err.Error() + "\n")
		return notFound
	}
	words := append([]string{real}, args[1:]...)
	if !wantsAddress {
		words = append(words, "-a")
	}
	p, err := start(real, words, env)
	if err != nil {
		os.Stderr.WriteString("jitinject: " + real + ": " + err.Error() + "\n")
		return notFound
	}
	x := exchange{wantsAddress: wantsAddress}
	p.pass(&x)
	return p.wait()
}

// isDialog reports whether arguments are those with which perf starts its dialog: -e FILE -i -f, or
// -e FILE -a -i -f. wantsAddress says that they have -a.
func isDialog(args []string) (wantsAddress, is bool) {
	if len(args) < 3 || args[0] != "-e" {
		return false, false
	}
	for _, option := range args[2:] {
		switch option {
		case "-a":
			wantsAddress = true
		case "-i", "-f":
		default:
			return false, false
		}
	}
	return wantsAddress, slices.Contains(args[2:], "-f")
}

// A process is a running addr2line with pipes.
type process struct {
	pid     int
	in, out int // descriptors of its standard input and output; -1 once closed
}

func start(path string, words, env []string) (*process, error) {
	var in, out [2]int
	if err := unix.Pipe2(in[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	if err := unix.Pipe2(out[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	runtime.LockOSThread() // the kernel sends Pdeathsig when the thread ends
	pid, err := syscall.ForkExec(path, words, &syscall.ProcAttr{
		Env:   env,
		Files: []uintptr{uintptr(in[0]), uintptr(out[1]), 2},
		Sys:   &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL},
	})
	unix.Close(in[0])
	unix.Close(out[1])
	return &process{pid, in[1], out[0]}, err
}

// wait closes the pipes, and returns the exit code.
func (p *process) wait() int {
	unix.Close(p.in)
	unix.Close(p.out)
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(p.pid, &status, 0, nil); err != unix.EINTR {
			break
		}
	}
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
