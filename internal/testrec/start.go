package testrec

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"testing"
)

// Start starts a command with pipes for its standard input and output. The command is killed when the
// test ends, if it still runs. The test may wait for it.
func Start(t testing.TB, cmd *exec.Cmd) (stdin io.WriteCloser, stdout io.ReadCloser) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if stdout, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return stdin, stdout
}

// StartWaiting starts a command that answers a line of input with a line, such as cat or a shell. It
// returns when the answer is there: the command then waits for the next line in stdin.
func StartWaiting(t testing.TB, cmd *exec.Cmd) (stdin io.WriteCloser) {
	t.Helper()
	stdin, stdout := Start(t, cmd)
	fmt.Fprintln(stdin, "echo started") // cat repeats it, and sh runs it
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("got %v from %s; want a line", err, cmd.Path)
	}
	return stdin
}
