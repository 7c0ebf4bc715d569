package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ExecOption is the option by which jitinject record, started by perf, becomes the command.
const ExecOption = "--exec-in-group"

// workload returns the command line that perf starts: jitinject, which becomes the command. environment
// is the descriptor of the command's environment, in perf and in the process that becomes the command.
func workload(self string, group int, environment uintptr, command []string) []string {
	ignored := unix.Signal(0)
	if signal.Ignored(unix.SIGINT) { // as in the background of a script; perf handles it
		ignored = unix.SIGINT
	}
	return append([]string{self, "record", ExecOption, fmt.Sprintf("%d,%d,%d", group, environment, ignored), "--"}, command...)
}

// file returns a file in memory with the environment. perf adds PREFIX and other variables to its own,
// and puts directories before those in PATH, so the command does not inherit that. perf inherits the
// descriptor, with all others that jitinject inherited.
func (e Environment) file() (*os.File, error) {
	fd, err := unix.MemfdCreate("environment", 0)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "environment")
	for _, variable := range e {
		if _, err := f.WriteString(variable + "\x00"); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// readEnvironment reads what file has written, from an inherited descriptor, and closes that.
func readEnvironment(fd int) (e Environment, err error) {
	f := os.NewFile(uintptr(fd), "environment")
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		return nil, err
	}
	for variable := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte{0}), []byte{0}) {
		e = append(e, string(variable))
	}
	return e, nil
}

// FindCommand returns the path of a command as execvp(3) finds it: PATH may name the working directory.
func FindCommand(name string) (path string, err error) {
	if path, err = exec.LookPath(name); errors.Is(err, exec.ErrDot) {
		err = nil
	}
	return path, err
}

// Exec puts the process into a process group and becomes a command, with the environment that workload
// names. args are those after ExecOption. It returns only an error.
func Exec(args []string) error {
	if len(args) < 3 || args[1] != "--" {
		return errors.New(ExecOption + " is for jitinject itself")
	}
	var numbers [3]int // process group, descriptor of the environment, and an ignored signal or 0
	for i, field := range strings.SplitN(args[0], ",", len(numbers)) {
		var err error
		if numbers[i], err = strconv.Atoi(field); err != nil {
			return err
		}
	}
	group, environment, ignored := numbers[0], numbers[1], numbers[2]
	if ignored != 0 {
		signal.Ignore(unix.Signal(ignored))
	}
	env, err := readEnvironment(environment)
	if err != nil {
		return err
	}
	os.Setenv("PATH", env.Get("PATH"))
	command := args[2:]
	path, err := FindCommand(command[0])
	if err != nil {
		return err
	}
	if err := unix.Setpgid(0, group); err != nil && !errors.Is(err, unix.EPERM) { // jitinject may have ended
		return fmt.Errorf("setpgid: %w", err)
	}
	err = unix.Exec(path, command, env)
	if errors.Is(err, unix.ENOEXEC) { // a script without #!, as a shell and execvp(3) run it
		err = unix.Exec("/bin/sh", append([]string{"/bin/sh", path}, command[1:]...), env)
	}
	return fmt.Errorf("%s: %w", command[0], err)
}
