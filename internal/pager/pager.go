package pager

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

// Start starts a pager on the terminal stdout, as git and perf do, and returns where the output
// goes: stdout itself if no pager is wanted or none can be started. finish waits until the pager is
// left. An error of the pager goes to stderr.
//
// JITINJECT_PAGER or PAGER names the pager. Without them it is less, which ends by itself if all
// fits on the screen. cat, or an empty name, stands for none.
func Start(stdout *os.File, stderr io.Writer) (out *os.File, finish func()) {
	none := func() {}
	pager, set := os.LookupEnv("JITINJECT_PAGER")
	if !set {
		if pager, set = os.LookupEnv("PAGER"); !set {
			pager = "less"
		}
	}
	if pager == "" || pager == "cat" || os.Getenv("TERM") == "dumb" && !set {
		return stdout, none
	}
	r, w, err := os.Pipe()
	if err != nil {
		return stdout, none
	}
	cmd := exec.Command("/bin/sh", "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, stdout, stderr
	cmd.Env = os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	err = cmd.Start()
	r.Close()
	if err != nil {
		w.Close()
		return stdout, none
	}
	// The keyboard's interrupt is the pager's: it stops reading, and is not left.
	signal.Ignore(os.Interrupt)
	return w, func() {
		w.Close()
		if err := cmd.Wait(); exitCode(err) == 127 {
			fmt.Fprintf(stderr, "jitinject: the pager %q cannot be run; name another in JITINJECT_PAGER, or use --no-pager\n", pager)
		}
		signal.Reset(os.Interrupt)
	}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}
