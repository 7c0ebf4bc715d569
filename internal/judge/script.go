package judge

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Script runs perf script on a recording and returns its samples in perf's order. Inlined
// calls are left out: only frames of the stack are judged. Further arguments go to perf
// script, such as --symfs and a directory.
//
// perf runs without the user's settings, build-id cache and debuginfod. Errors include the
// end of perf's standard error.
func Script(ctx context.Context, perf, file string, args ...string) ([]Sample, error) {
	return run(ctx, perf, append([]string{"script", "-f", "--ns", "--no-inline", "-F", Fields, "-i", file}, args...))
}

// Lines returns the samples in one of the symbols itself, without call chains,
// with perf's source line of the sample's address. For other samples perf would look up
// lines in the runtime's own files, which takes minutes. Symbols with a comma are left out:
// perf has no way to name them.
func Lines(ctx context.Context, perf, file string, symbols []string, args ...string) ([]Sample, error) {
	var wanted []string
	for _, s := range symbols {
		if !strings.Contains(s, ",") {
			wanted = append(wanted, s)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	all := []string{"script", "-f", "--ns", "--no-inline", "-G", "-F", Fields + ",srcline", "-S", strings.Join(wanted, ","), "-i", file}
	return run(ctx, perf, append(all, args...))
}

// Command prepares a run of perf without the user's settings, build-id cache and
// debuginfod. The function returned removes temporary files; call it after the run.
func Command(ctx context.Context, perf string, args ...string) (*exec.Cmd, func(), error) {
	home, err := os.MkdirTemp("", "judge-")
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, perf, args...)
	cmd.Env = append(os.Environ(), "HOME="+home, "LC_ALL=C", "DEBUGINFOD_URLS=", "PERF_CONFIG=/dev/null", "PAGER=cat")
	cmd.WaitDelay = 5 * time.Second // for processes that perf has left running
	return cmd, func() { os.RemoveAll(home) }, nil
}

// run runs perf and parses its output as it arrives.
func run(ctx context.Context, perf string, args []string) ([]Sample, error) {
	cmd, clean, err := Command(ctx, perf, args...)
	if err != nil {
		return nil, err
	}
	defer clean()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	in := &ending{Reader: out}
	samples, parsing := Parse(in)
	if parsing != nil && !in.ended {
		cmd.Process.Kill() // it may have much more to print
	}
	err = cmd.Wait()
	switch command := perf + " " + strings.Join(args, " "); {
	case ctx.Err() != nil: // its output may end anywhere
		return nil, fmt.Errorf("%s: %w", command, ctx.Err())
	case parsing != nil && err != nil && in.ended: // perf died within a line
		return nil, fmt.Errorf("%s: %w after %d samples: %s", command, err, len(samples), tail(stderr.String()))
	case parsing != nil:
		return nil, fmt.Errorf("%s: %w", command, parsing)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %s", command, err, tail(stderr.String()))
	}
	return samples, nil
}

// ending is a reader that records whether it was read to the end.
type ending struct {
	io.Reader
	ended bool
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	e.ended = e.ended || err == io.EOF
	return n, err
}

// tail returns the end of a program's messages, for errors.
func tail(s string) string {
	const most = 500
	if s = strings.TrimSpace(s); len(s) > most {
		s = "…" + s[len(s)-most:]
	}
	return s
}

// Version returns the version of a perf command, such as 6.1.187.
func Version(ctx context.Context, perf string) (string, error) {
	out, err := exec.CommandContext(ctx, perf, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", perf, err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "perf version "), nil
}
