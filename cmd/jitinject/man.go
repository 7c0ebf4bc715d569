package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/manual"
)

// manualDate is when the texts of the manual were changed last.
const manualDate = "2026-11-24"

// manualPages returns the pages: of all commands that have more to tell than a line,
// and of the topics that belong to a section of the manual.
func manualPages() (pages []*manual.Page) {
	for _, c := range commands() {
		if c.flags != nil {
			pages = append(pages, commandPage(&c))
		}
	}
	for _, name := range topics() {
		if p, _ := helpText(name); p.Section != "" {
			pages = append(pages, p)
		}
	}
	return pages
}

// dateOf is the date for manual pages: where SOURCE_DATE_EPOCH names a time (see
// reproducible-builds.org), that of the day.
func dateOf(epoch string) string {
	if s, err := strconv.ParseInt(epoch, 10, 64); err == nil {
		return time.Unix(s, 0).UTC().Format(time.DateOnly)
	}
	return manualDate
}

// shortVersion is what of a version fits beside the date in the footer of a page that is
// 80 columns wide: of a commit between releases, the release.
func shortVersion(v string) string {
	for _, end := range []string{"~", "+", "-"} {
		if short, _, _ := strings.Cut(v, end); len(v) > 15 && short != "" {
			v = short
		}
	}
	return v
}

func runMan(args []string, stdout *os.File, stderr io.Writer) int {
	flags := newFlagSet("man")
	if code, done := parse(flags, args, stdout, stderr); done {
		return code
	}
	if flags.NArg() != 1 {
		return refuse(flags, stderr, usageError("man needs the name of one directory, as /usr/local/share/man"))
	}
	if err := writeManual(flags.Arg(0), dateOf(os.Getenv("SOURCE_DATE_EPOCH"))); err != nil {
		return fail(stderr, err)
	}
	return exitOK
}

// writeManual writes the pages into man1, man3 and man5 below dir.
func writeManual(dir, date string) error {
	for _, p := range manualPages() {
		if err := writePage(dir, p.Section, p.Name, p.Roff(date, "jitinject "+shortVersion(version()))); err != nil {
			return err
		}
	}
	// perf jitinject --help is perf's for: man perf-jitinject.
	link := filepath.Join(dir, "man1", "perf-jitinject.1")
	err := os.Remove(link)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.Symlink("jitinject.1", link)
	}
	if err != nil {
		return fmt.Errorf("the manual page could not be written: %w", err)
	}
	return nil
}

func writePage(dir, section, name, text string) error {
	dir = filepath.Join(dir, "man"+section)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, name+"."+section)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("the manual page could not be written: %w", err)
	}
	return nil
}
