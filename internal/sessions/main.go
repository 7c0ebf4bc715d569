package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	r := &runner{top: "."}
	only := flag.String("only", "", "run the sessions with `WORD` in their names")
	flag.StringVar(&r.bin, "bin", "bin", "where jitinject is")
	// Not in /tmp, where perf takes objects for something special.
	flag.StringVar(&r.work, "work", "/var/tmp", "where sessions run")
	flag.StringVar(&r.roots, "roots", "/var/cache/jitinject", "where folders of other Debian releases are")
	flag.Parse()
	files := flag.Args()
	if len(files) == 0 {
		files = documents(r.top)
	}
	failed := false
	for _, file := range files {
		if err := r.refresh(file, *only); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// documents are the markdown files that may have sessions.
func documents(top string) []string {
	files := []string{filepath.Join(top, "README.md")}
	filepath.WalkDir(filepath.Join(top, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}
		return nil
	})
	return files
}

// refresh runs the sessions of a document and puts in what they print. What failed
// stays as it was.
func (r *runner) refresh(file, only string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	doc := string(old)
	sessions, err := parse(doc)
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range sessions {
		if !strings.Contains(s.name, only) {
			continue
		}
		printed, err := r.run(s)
		switch {
		case errors.Is(err, errMissing):
			fmt.Fprintf(os.Stderr, "%s: session %s is left as it is: %v\n", file, s.name, err)
		case err != nil:
			errs = append(errs, err)
		default:
			doc = s.paste(doc, printed)
		}
	}
	if doc != string(old) {
		fmt.Fprintf(os.Stderr, "%s: written\n", file)
		errs = append(errs, os.WriteFile(file, []byte(doc), 0o644))
	}
	return errors.Join(errs...)
}
