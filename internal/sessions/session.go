package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A session is one that a document shows.
type session struct {
	name       string
	attributes map[string]string
	lines      string // what is run
	shown      string // what the document shows, without the fence
	head, all  string // the comment, and the whole text of the session in the document
}

var (
	form  = regexp.MustCompile("(?ms)^(<!-- session (.*?)\n(.*?)^-->\n)(?:```console\n(.*?)```\n)?<!-- /session -->$")
	begin = regexp.MustCompile("(?m)^<!-- session ")
)

// parse finds the sessions of a document.
func parse(doc string) ([]*session, error) {
	var sessions []*session
	for _, m := range form.FindAllStringSubmatch(doc, -1) {
		words := strings.Fields(m[2])
		if len(words) == 0 {
			return nil, errors.New("a session without a name")
		}
		s := &session{name: words[0], attributes: make(map[string]string), lines: m[3], shown: m[4], head: m[1], all: m[0]}
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			if !slices.Contains([]string{"recording", "files", "needs", "in", "records"}, key) {
				return nil, fmt.Errorf("session %s: there is no attribute %q", s.name, key)
			}
			s.attributes[key] = value
		}
		sessions = append(sessions, s)
	}
	if n := len(begin.FindAllString(doc, -1)); n != len(sessions) {
		return nil, fmt.Errorf("%d sessions begin, and %d end", n, len(sessions))
	}
	return sessions, nil
}

// paste puts what a session printed into its document.
func (s *session) paste(doc, printed string) string {
	return strings.Replace(doc, s.all, s.head+"```console\n"+printed+"```\n<!-- /session -->", 1)
}

// list returns the words of an attribute.
func (s *session) list(attribute string) []string {
	return strings.FieldsFunc(s.attributes[attribute], func(r rune) bool { return r == ',' })
}

// records reports whether the session records a program.
func (s *session) records() bool {
	_, ok := s.attributes["records"]
	return ok
}

// shell runs the lines of a session.
//
//go:embed shell.sh
var shell string

// A runner runs sessions.
type runner struct {
	top   string // of the repository
	bin   string // where jitinject is
	work  string // where sessions run; those in roots, in /var/tmp of these
	roots string // where folders of other Debian releases are
}

// errMissing is the error of a session for which something is not installed.
var errMissing = errors.New("not installed")

// shownDir stands in documents for the directory that a session ran in.
const shownDir = "/home/me/app"

// run runs a session and returns what it printed, its commands included.
func (r *runner) run(s *session) (string, error) {
	root, work := "", r.work
	if in := s.attributes["in"]; in != "" {
		root = filepath.Join(r.roots, in)
		work = filepath.Join(root, "var/tmp")
		if _, err := os.Stat(work); err != nil {
			return "", fmt.Errorf("%s: %w", root, errMissing)
		}
	}
	dir, err := os.MkdirTemp(work, "session-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	work = filepath.Join(dir, "app")
	// A copy of the program, since what lies in /tmp may be hidden.
	err = errors.Join(os.Mkdir(work, 0o755), os.CopyFS(filepath.Join(dir, "bin"), os.DirFS(r.bin)),
		os.WriteFile(filepath.Join(dir, "lines"), []byte(s.lines), 0o644))
	if recording := s.attributes["recording"]; recording != "" && err == nil {
		err = errors.Join(testrec.UnpackTo(recording, work), testrec.Relocate(work))
	}
	for _, f := range s.list("files") {
		b, readErr := os.ReadFile(filepath.Join(r.top, "docs/runtimes/programs", f))
		err = errors.Join(err, readErr, os.WriteFile(filepath.Join(work, f), b, 0o644))
	}
	if err != nil {
		return "", err
	}
	inside := strings.TrimPrefix(work, root)
	args := append([]string{"bash", "-c", shell, s.name, inside}, s.list("needs")...)
	if root != "" {
		args = append([]string{"chroot", root}, args...)
	}
	if s.records() {
		// Some runtimes write to /tmp: to one of their own, that goes when they have ended.
		args = append([]string{"unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs " + filepath.Join(root, "/tmp") + ` && exec "$@"`, "sh"}, args...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	home := filepath.Dir(inside)
	cmd.Env = []string{
		"PATH=" + home + "/bin:" + os.Getenv("PATH") + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
		"HOME=" + home, "LC_ALL=C.UTF-8", "TERM=dumb", "PAGER=cat", "USER=root",
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 {
		err = errMissing
	}
	if err != nil {
		return "", fmt.Errorf("session %s: %w\n%s", s.name, err, out)
	}
	text := strings.ReplaceAll(string(out), inside, shownDir)
	return strings.ReplaceAll(text, inside[1:], shownDir[1:]), nil // as in the names of caches
}
