package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// output runs a command in a directory, with additional environment, and returns its
// standard output. Errors include the end of its messages.
func output(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.WaitDelay = 10 * time.Second // for processes that it has left running
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(stderr.String())
		if said == "" {
			said = strings.TrimSpace(stdout.String())
		}
		const most = 400
		if len(said) > most {
			said = "…" + said[len(said)-most:]
		}
		command := strings.Join(args, " ")
		if len(command) > most {
			command = command[:most] + "…"
		}
		return stdout.String(), fmt.Errorf("%s: %w: %s", command, err, said)
	}
	return stdout.String(), nil
}

// reason shortens a program's error to its status and its last message, without the
// command.
func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("it takes more than %v", scriptLimit)
	}
	text := strings.TrimSpace(err.Error())
	said := text[strings.LastIndexByte(text, '\n')+1:]
	for _, end := range []string{": exit status ", ": signal: "} {
		if at := strings.LastIndex(said, end); at >= 0 {
			said = said[at+len(": "):]
		}
	}
	return said
}
