package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/judge"
)

// findPerfs returns this machine's perf, and those of other Debian releases, after
// installing them if need be. It reports a release without one.
func findPerfs(ctx context.Context, top, roots string) ([]perf, error) {
	paths := []string{"perf"}
	for _, suite := range []string{"trixie", "sid"} {
		path := filepath.Join(roots, suite, "perf")
		if _, err := os.Stat(path); err != nil {
			out, err := output(ctx, "", nil, filepath.Join(top, "script", "perf-root"), suite, filepath.Join(roots, suite))
			if err != nil {
				fmt.Fprintf(os.Stderr, "no perf of Debian %s: %v\n", suite, err)
				continue
			}
			path = strings.TrimSpace(out)
		}
		paths = append(paths, path)
	}
	var perfs []perf
	for _, path := range paths {
		version, err := judge.Version(ctx, path)
		if err != nil {
			return nil, err
		}
		parts := strings.SplitN(version, ".", 3)
		perfs = append(perfs, perf{strings.Join(parts[:min(len(parts), 2)], "."), path})
	}
	return perfs, nil
}

// try installs a runtime, records it in both ways, and judges the results.
func (e *environment) try(ctx context.Context, r *runtime) (*result, error) {
	s := &site{top: e.top, bin: e.bin, version: r.version}
	if err := e.install(ctx, r, s); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(e.roots, "work"), 0o755); err != nil {
		return nil, err
	}
	var kinds []*measured
	for _, k := range []kind{framePointers, copies} {
		m, err := e.recordIn(ctx, r, s, k)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		kinds = append(kinds, m)
	}
	out := resultOf(r, s.installed, time.Now().Format("2006-01-02"), kinds[0], kinds[1])
	// Directories of this machine are no result.
	work := regexp.MustCompile(`(file://)?` + regexp.QuoteMeta(filepath.Join(e.roots, "work")) + `/[^/ ]+/`)
	for i, text := range out.remarks {
		out.remarks[i] = strings.ReplaceAll(work.ReplaceAllString(text, ""), e.roots+"/", "")
	}
	return out, nil
}

// recordIn measures in a fresh directory, and removes it.
func (e *environment) recordIn(ctx context.Context, r *runtime, s *site, k kind) (*measured, error) {
	// Not in /tmp, where perf treats objects specially.
	dir, err := os.MkdirTemp(filepath.Join(e.roots, "work"), strings.NewReplacer("@", "-", "/", "-").Replace(r.id)+"-")
	if err != nil {
		return nil, err
	}
	if e.keep {
		fmt.Fprintln(os.Stderr, r.id, k.name, "is kept in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL runs as another user
		return nil, err
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(e.top, "testdata", "truth"))); err != nil {
		return nil, err
	}
	s.work = dir
	return s.measure(ctx, r.family, e.perfs, k)
}

// install installs a runtime and sets the fields of the site that depend on it.
func (e *environment) install(ctx context.Context, r *runtime, s *site) (err error) {
	if r.family.npm != "" {
		s.npm, s.installed, err = installNPM(ctx, e.roots, r.family.npm, r.version)
		return err
	}
	if r.family.module != nil {
		s.program, s.installed, err = r.family.module.install(ctx, e.top, e.roots, r.version)
		return err
	}
	if s.release, err = install(ctx, e.top, e.roots, r.suite, r.family.packages(r.version)); err != nil {
		return err
	}
	if s.installed, err = s.release.version(ctx, r.family.versions(r.version)); err != nil {
		return err
	}
	if !matches(s.installed, r.version) {
		return fmt.Errorf("its version in Debian %s is %s", r.suite, s.installed)
	}
	return nil
}

// write writes a result into the page.
func (e *environment) write(out *result) error {
	if e.page == "" {
		return nil
	}
	path := e.page
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.top, path)
	}
	p, err := openPage(path)
	if err != nil {
		return err
	}
	return errors.Join(
		p.setRow("names", out.id, out.names, defaults),
		p.setRow("fp", out.id, out.fp, defaults),
		p.setRow("dwarf", out.id, out.dwarf, defaults),
		p.setRemarks(out.id, out.remarks, defaults),
		p.save())
}
