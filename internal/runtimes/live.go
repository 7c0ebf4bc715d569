package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// injectLive records a program and injects while it lives: the list of its code ends with it.
// The program says that it is ready and waits for a line. After its work it prints how many functions
// it has, and waits for the end of its input.
func (s *site) injectLive(ctx context.Context, perf string, k kind, c *command) (file, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := s.recorded(ctx, c.args, c)
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", "", err
	}
	var messages strings.Builder
	cmd.Stderr = &messages
	if err := cmd.Start(); err != nil {
		return "", "", err
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	lines := bufio.NewScanner(out)
	err = await(lines, "ready") // a thread that ends meanwhile makes perf record fail
	if err == nil {
		err = s.recordWork(ctx, perf, k, pid, in, lines)
	}
	if err == nil {
		live := *c
		live.inject = append([]string{"--live", pid}, c.inject...)
		file, said, err = s.inject(ctx, &live)
	}
	in.Close()
	if ended := cmd.Wait(); ended != nil && err == nil {
		err = fmt.Errorf("the program: %w", ended)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, messages.String())
	}
	return file, said, err
}

// recordWork records a process with perf record -p during its work.
func (s *site) recordWork(ctx context.Context, perf string, k kind, pid string, in io.Writer, lines *bufio.Scanner) error {
	orders, control, err := os.Pipe()
	if err != nil {
		return err
	}
	defer control.Close()
	answers, answer, err := os.Pipe()
	if err != nil {
		orders.Close()
		return err
	}
	defer answers.Close()
	cmd := exec.CommandContext(ctx, perf, append(recordArgs(k), "-p", pid, "--control", "fd:3,4")...)
	cmd.Dir, cmd.ExtraFiles = s.work, []*os.File{orders, answer}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Start()
	orders.Close()
	answer.Close()
	if err != nil {
		return err
	}
	work := func() error {
		if _, err := io.WriteString(control, "ping\n"); err != nil {
			return err
		}
		if _, err := bufio.NewReader(answers).ReadString('\n'); err != nil {
			return fmt.Errorf("perf record does not answer: %w", err)
		}
		if _, err := io.WriteString(in, "\n"); err != nil {
			return err
		}
		return await(lines, " functions")
	}
	err = work()
	io.WriteString(control, "stop\n") // if perf has ended, Wait says why
	if ended := cmd.Wait(); ended != nil {
		return fmt.Errorf("perf record: %w: %s", ended, said.String())
	}
	return err
}

// await reads lines up to one that ends in a text.
func await(lines *bufio.Scanner, end string) error {
	for lines.Scan() {
		if strings.HasSuffix(lines.Text(), end) {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return fmt.Errorf("the program ends without saying %q", end)
}
