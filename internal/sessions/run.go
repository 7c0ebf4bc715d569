package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

//go:embed shell.sh
var shellFunctions string

// A runner runs sessions.
type runner struct {
	top   string // of the repository
	bin   string // where jitinject is
	work  string // where sessions run; those in roots, in /var/tmp of these
	npm   string // where npm's programs are, or ""
	roots string // where folders of other Debian releases are
}

// A missingError says what is not there that a session needs.
type missingError string

func (e missingError) Error() string { return string(e) }

// shownDir stands in documents for the directory that a session ran in.
const shownDir = "/home/me/app"

// run runs a session and returns what it printed, its commands included.
func (r *runner) run(s *session) (string, error) {
	root := ""
	if s.root != "" {
		root = filepath.Join(r.roots, s.root)
		if _, err := os.Stat(filepath.Join(root, "bin", "bash")); err != nil {
			return "", missingError("no folder " + root)
		}
	}
	for _, name := range s.needs {
		if _, err := r.find(root, name); err != nil {
			return "", missingError("no " + name)
		}
	}
	work := r.work
	if root != "" {
		work = filepath.Join(root, "var/tmp")
	}
	dir, err := os.MkdirTemp(work, "session-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	work = filepath.Join(dir, "app")
	if err := os.Mkdir(work, 0o755); err != nil {
		return "", err
	}
	// A copy, since what lies in /tmp may be hidden.
	if err := os.CopyFS(filepath.Join(dir, "bin"), os.DirFS(r.bin)); err != nil {
		return "", err
	}
	if s.recording != "" {
		if err := testrec.UnpackTo(s.recording, work); err != nil {
			return "", err
		}
		if err := testrec.Relocate(work); err != nil {
			return "", err
		}
	}
	for _, f := range s.files {
		if err := copyFile(filepath.Join(r.top, "docs/runtimes/programs", f), filepath.Join(work, f), 0o644); err != nil {
			return "", err
		}
	}
	inside := strings.TrimPrefix(work, root)
	text, err := r.shell(s, root, dir, inside)
	text = strings.ReplaceAll(text, inside, shownDir)
	text = strings.ReplaceAll(text, inside[1:], shownDir[1:]) // as in the names of caches
	return text, err
}

// shell runs the steps of a session in one shell.
func (r *runner) shell(s *session, root, dir, work string) (string, error) {
	var script strings.Builder
	script.WriteString(shellFunctions)
	fmt.Fprintf(&script, "cd %s\n", work)
	for i, st := range s.steps {
		// The output is a file: jitinject would write a result into a pipe.
		fmt.Fprintf(&script, "{ %s\n} >../out.%d 2>&1 </dev/null\necho $? >../code.%d\n", st.command, i, i)
		if st.filter != "" {
			fmt.Fprintf(&script, "{ %s\n} <../out.%d >../out 2>&1; mv ../out ../out.%d\n", st.filter, i, i)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	args := []string{"bash", "-c", script.String()}
	if root != "" {
		args = append([]string{"chroot", root}, args...)
	}
	if s.records {
		// Some runtimes write to /tmp: to one of their own, that goes when they have ended.
		args = append([]string{"unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs " + filepath.Join(root, "/tmp") + ` && exec "$@"`, "sh"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = []string{
		"PATH=" + filepath.Join(filepath.Dir(work), "bin") + ":" + r.path(root), "HOME=" + filepath.Dir(work), "LC_ALL=C.UTF-8", "TERM=dumb", "PAGER=cat", "USER=root",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("session %s: %w\n%s", s.name, err, out)
	}
	var text strings.Builder
	var errs []error
	for i, st := range s.steps {
		out, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("out.%d", i)))
		if err != nil {
			return "", err
		}
		code, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("code.%d", i)))
		if err != nil {
			return "", err
		}
		if got := strings.TrimSpace(string(code)); got != fmt.Sprint(st.code) {
			errs = append(errs, fmt.Errorf("session %s: %s: exit code %s, and not %d\n%s", s.name, st.command, got, st.code, out))
		}
		if !st.hidden {
			fmt.Fprintf(&text, "$ %s\n%s", st.command, tidy(string(out)))
		}
	}
	return text.String(), errors.Join(errs...)
}

// tidy removes blanks at the ends of lines, and empty lines at the end.
func tidy(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimRight(line, " \t\r\n") + "\n")
	}
	if t := strings.TrimRight(b.String(), "\n"); t != "" {
		return t + "\n"
	}
	return ""
}

func (r *runner) path(root string) string {
	const system = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
	if root != "" {
		return system
	}
	return r.npm + ":" + system
}

// find finds a command as a session would.
func (r *runner) find(root, name string) (string, error) {
	for _, dir := range strings.Split(r.path(root), ":") {
		path := filepath.Join(root, dir, name)
		if st, err := os.Stat(path); dir != "" && err == nil && st.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

func copyFile(from, to string, mode os.FileMode) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	os.Remove(to) // a program that runs cannot be written to
	return os.WriteFile(to, b, mode)
}
