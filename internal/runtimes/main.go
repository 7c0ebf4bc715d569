package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	var e environment
	list := flag.Bool("list", false, "print the default runtimes, and end")
	flag.StringVar(&e.top, "top", ".", "the repository")
	flag.StringVar(&e.bin, "bin", "bin", "directory of jitinject and the agent for Java")
	flag.StringVar(&e.roots, "roots", "/var/cache/jitinject", "directory for runtimes and perfs")
	flag.StringVar(&e.page, "write", "docs/runtimes/results.md", "the page to write; \"\" writes none")
	flag.BoolVar(&e.keep, "keep", false, "keep recordings, and print their directories")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ids := flag.Args()
	if len(ids) == 0 {
		ids = slices.Clone(defaults)
		if n := newestNode(ctx); n != "" && !slices.Contains(ids, n) {
			ids = append([]string{n}, ids...)
		}
	}
	if *list {
		for _, id := range ids {
			fmt.Println(id)
		}
		return
	}
	if err := e.run(ctx, ids); err != nil {
		fmt.Fprintln(os.Stderr, "runtimes:", err)
		os.Exit(1)
	}
}

// An environment has the settings shared by all runtimes.
type environment struct {
	top, bin, roots, page string
	keep                  bool
	perfs                 []perf
}

// run tries runtimes, one after the other. It reports failures and goes on.
func (e *environment) run(ctx context.Context, ids []string) error {
	var runtimes []*runtime
	for _, id := range ids {
		r, err := parse(id)
		if err != nil {
			return err
		}
		runtimes = append(runtimes, r)
	}
	for _, path := range []*string{&e.top, &e.bin, &e.roots} {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		if abs == "/tmp" || strings.HasPrefix(abs, "/tmp/") {
			return fmt.Errorf("%s is in /tmp, which this program replaces; name a directory elsewhere", abs)
		}
		*path = abs
	}
	if done, err := e.ownTmp(ctx); done || err != nil {
		return err
	}
	var err error
	if e.perfs, err = findPerfs(ctx, e.top, e.roots); err != nil {
		return err
	}
	failed := 0
	for _, r := range runtimes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		begin := time.Now()
		out, err := e.try(ctx, r)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", r.id, err)
			failed++
			continue
		}
		fmt.Printf("%s %v\n  -g %v\n  dwarf %v\n", out.id, out.names, out.fp, out.dwarf)
		for _, remark := range out.remarks {
			fmt.Println("   ", remark)
		}
		fmt.Fprintf(os.Stderr, "%s took %v\n", r.id, time.Since(begin).Round(time.Second))
		if err := e.write(out); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d runtimes were not tried", failed, len(runtimes))
	}
	return nil
}

// ownTmp runs this program again with a /tmp of its own, for dumps that runtimes leave
// there. done means that it did.
func (e *environment) ownTmp(ctx context.Context) (done bool, err error) {
	const mark = "JITINJECT_OWN_TMP"
	if os.Getenv(mark) != "" {
		return false, nil
	}
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	// go run leaves the program in /tmp, where the new one would hide it.
	copied := filepath.Join(e.roots, "runtimes.bin")
	if err := os.MkdirAll(e.roots, 0o755); err != nil {
		return false, err
	}
	b, err := os.ReadFile(self)
	if err != nil {
		return false, err
	}
	os.Remove(copied)
	if err := os.WriteFile(copied, b, 0o755); err != nil {
		return false, err
	}
	mount := "mount -t tmpfs tmpfs /tmp"
	if e.keep {
		kept := filepath.Join(e.roots, "work", "tmp")
		if err := os.MkdirAll(kept, 0o755); err != nil {
			return false, err
		}
		if err := os.Chmod(kept, 0o777|os.ModeSticky); err != nil {
			return false, err
		}
		fmt.Fprintf(os.Stderr, "to see the kept files: unshare --mount sh -c 'mount --bind %s /tmp && exec bash'\n", kept)
		mount = "mount --bind '" + kept + "' /tmp"
	}
	args := append([]string{"--mount", "sh", "-c", mount + ` && exec "$@"`, "sh", copied}, os.Args[1:]...)
	cmd := exec.CommandContext(ctx, "unshare", args...)
	cmd.Env = append(os.Environ(), mark+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 {
			os.Exit(1) // it has printed why
		}
		return true, fmt.Errorf("unshare --mount: %w (it needs root)", err)
	}
	return true, nil
}
