package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A release is a Debian release that runs on this machine: its own, or one in a folder.
type release struct {
	suite string // bookworm, trixie, sid
	dir   string // the folder; "/" for this machine
}

// thisSuite returns the name of the release that this machine runs.
func thisSuite() string {
	b, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "VERSION_CODENAME="); ok {
			return strings.Trim(name, `"`)
		}
	}
	return ""
}

// install installs packages into a release, and makes the release first if it is missing.
// Installed packages stay as they are.
func install(ctx context.Context, top, roots, suite string, packages []string) (*release, error) {
	r := &release{suite: suite, dir: filepath.Join(roots, "runtimes-"+suite)}
	if suite == thisSuite() {
		r.dir = "/"
	}
	_, err := output(ctx, "", nil, append([]string{filepath.Join(top, "script", "debian-root"), suite, r.dir}, packages...)...)
	return r, err
}

// here reports whether the release is the one of this machine.
func (r *release) here() bool { return r.dir == "/" }

// path returns the path on this machine of a release's file.
func (r *release) path(name string) string { return filepath.Join(r.dir, name) }

// find returns the file that matches a pattern. Of several, it returns the last by name,
// which is the newest version.
func (r *release) find(pattern string) (string, error) {
	files, err := filepath.Glob(r.path(pattern))
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", fmt.Errorf("no %s in Debian %s", pattern, r.suite)
	}
	return files[len(files)-1], nil
}

// command returns the words that run a program of the release. path is on this machine. A
// program in a folder runs by the folder's loader, with its libraries; rakudo's lie in a
// directory of MoarVM.
func (r *release) command(path string, args ...string) ([]string, error) {
	if r.here() {
		return append([]string{path}, args...), nil
	}
	loader, err := r.find("lib*/ld-linux-*.so.?")
	if err != nil {
		return nil, err
	}
	libs, err := filepath.Glob(r.path("usr/lib/*-linux-gnu*"))
	if err != nil || len(libs) == 0 {
		return nil, fmt.Errorf("%s has no libraries", r.dir)
	}
	// Alternatives of the linear algebra libraries are links with the release's own paths.
	for _, dir := range libs {
		libs = append(libs, filepath.Join(dir, "blas"), filepath.Join(dir, "lapack"))
	}
	return append([]string{loader, "--library-path", strings.Join(append(libs, r.path("usr/lib"), r.path("usr/lib/moar")), ":"), path}, args...), nil
}

// wrap writes a script that runs a program of the release, for programs that start
// others by themselves.
func (r *release) wrap(script, path string, env ...string) error {
	words, err := r.command(path)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for _, e := range env {
		fmt.Fprintf(&b, "export %s\n", e)
	}
	fmt.Fprintf(&b, "exec %s \"$@\"\n", strings.Join(words, " "))
	return os.WriteFile(script, []byte(b.String()), 0o755)
}

// version returns the version of a package, without epoch and Debian's revision.
func (r *release) version(ctx context.Context, name string) (string, error) {
	args := []string{"dpkg-query", "-W", "-f", "${Version}", name}
	if !r.here() {
		args = append([]string{"dpkg-query", "--admindir", r.path("var/lib/dpkg")}, args[1:]...)
	}
	out, err := output(ctx, "", nil, args...)
	if err != nil {
		return "", err
	}
	if _, after, ok := strings.Cut(out, ":"); ok {
		out = after
	}
	out, _, _ = strings.Cut(out, "-")
	out, _, _ = strings.Cut(out, "+")
	out, _, _ = strings.Cut(out, "~")
	return strings.TrimSuffix(out, ".dfsg"), nil
}
