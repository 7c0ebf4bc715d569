package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// An interrupt from the keyboard goes to all of a pipeline: what perf record has
// written until then is injected. A recording in a file is given up.
func TestInterrupt_PipelineAndFile(t *testing.T) {
	program, err := os.Executable() // which is the program if it is told so
	if err != nil {
		t.Fatal(err)
	}
	dir := testrec.Unpack(t, "node-pipe")
	recording, err := os.ReadFile(filepath.Join(dir, "perf.pipe.data"))
	if err != nil {
		t.Fatal(err)
	}
	begin := func(args ...string) (*exec.Cmd, *os.File, *bytes.Buffer) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Stdin = dir, r
		cmd.Env = append(os.Environ(), beProgram+"=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r.Close()
		t.Cleanup(func() { w.Close() })
		return cmd, w, &stderr
	}

	cmd, w, stderr := begin("-i", "-", "-o", "live.data")
	if _, err := w.Write(recording[:70000]); err != nil { // more than the pipe holds: it is being read
		t.Fatal(err)
	}
	cmd.Process.Signal(os.Interrupt)
	time.Sleep(100 * time.Millisecond)
	w.Write(recording[70000:])
	w.Close()
	if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), "live.data: 2,208 mappings") {
		t.Errorf("got %v; want no error, stderr with \"live.data: 2,208 mappings\"\n%s", err, stderr)
	}

	recorded := options{partial: "to inject perf.data: jitinject"}
	if text, code := whatIsThere(&recorded, new(report.Progress)); text != recorded.partial || code != exitFailed {
		t.Errorf("got %q, %d; want what jitinject record says", text, code)
	}
	for _, input := range []string{"-", "fifo"} { // nothing comes, or nobody opens it
		if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
		var cmd *exec.Cmd
		var stderr *bytes.Buffer
		for wait := 300 * time.Millisecond; wait < 20*time.Second; wait *= 2 {
			cmd, _, stderr = begin("-i", input, "-o", "given-up.data")
			time.Sleep(wait)
			cmd.Process.Signal(syscall.SIGTERM)
			if cmd.Wait(); cmd.ProcessState.ExitCode() != -1 {
				break // the signal came when the program listened to it
			}
		}
		if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(stderr.String(), "interrupted; nothing was written") {
			t.Errorf("%s: got exit code %d; want %d, interrupted\n%s", input, code, exitFailed, stderr)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*given-up*")); len(left) > 0 {
			t.Errorf("%s leaves %v", input, left)
		}
	}
}
