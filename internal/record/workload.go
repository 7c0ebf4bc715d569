package record

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// ExecOption is the option by which jitinject record, started by perf, becomes the command.
const ExecOption = "--exec-in-group"

// workload returns the command line that perf starts: jitinject, which becomes the command.
func workload(self string, group int, command []string) []string {
	return append([]string{self, "record", ExecOption, strconv.Itoa(group), "--"}, command...)
}

// Exec puts the process into a process group and becomes a command. args are those after
// ExecOption. It returns only an error.
func Exec(args []string) error {
	if len(args) < 3 || args[1] != "--" {
		return errors.New(ExecOption + " is for jitinject itself")
	}
	group, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	command := args[2:]
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	if err := unix.Setpgid(0, group); err != nil && !errors.Is(err, unix.EPERM) { // jitinject may have ended
		return fmt.Errorf("setpgid: %w", err)
	}
	err = unix.Exec(path, command, os.Environ())
	if errors.Is(err, unix.ENOEXEC) { // a script without #!, as a shell and execvp(3) run it
		err = unix.Exec("/bin/sh", append([]string{"/bin/sh", path}, command[1:]...), os.Environ())
	}
	return fmt.Errorf("%s: %w", command[0], err)
}
