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

// output runs a command in a directory, with more environment, and returns what it prints
// on standard output. An error has the end of what it says.
func output(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.WaitDelay = 10 * time.Second // for what it has started and left
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

// reason shortens an error of a program to why it failed: how it ended and what it said
// last, without the command.
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
