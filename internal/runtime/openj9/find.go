package openj9

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Captures of OpenJ9's metadata. Recordings do not mention them: the user names files, or
// directories of them. All captures of a process are one dump, with a marker as if the process had
// mapped it.

// A group has captures that were named together and that name one process.
type group struct {
	path     string // as named: a file, or a directory
	pid      uint32 // process from the user, or from the captures; 0 for none
	named    bool   // pid is from the user
	captures []*Capture
}

// Find finds the named captures, and makes markers for their processes. The error is ctx's, or that
// of unusable options.
func Find(ctx context.Context, f *locate.Finder, found *report.Findings) error {
	var groups []*group
	seen := make(map[string]bool)
	// First those with a process from the user: they may also be in a named directory.
	named := f.Opts.Named(Kind)
	sorting.Stable(named, func(a, b config.SideFile) int { return cmp.Compare(min(b.PID, 1), min(a.PID, 1)) })
	for _, n := range named {
		list, err := openCaptures(ctx, f, n, seen, found)
		if err != nil {
			return err
		}
		groups = append(groups, list...)
	}
	if len(groups) == 0 {
		return nil
	}
	owners := ownersOfCaptures(f, groups, found)
	of := make(map[uint32][]*Capture)
	for _, g := range groups { // in the order of their names
		for _, c := range g.captures {
			if pid, ok := owners[c]; ok {
				of[pid] = append(of[pid], c)
			}
		}
	}
	for _, pid := range f.Rec.PIDs() {
		if list := of[pid]; len(list) > 0 {
			if err := markCaptures(f, pid, list, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// openCaptures opens the captures of one option. An unusable named file is an error. An unusable
// file in a named directory is a problem.
func openCaptures(ctx context.Context, f *locate.Finder, n config.SideFile, seen map[string]bool, found *report.Findings) (groups []*group, err error) {
	option := n
	for _, pid := range []uint32{n.PID, f.Opts.PID} {
		if pid != 0 && f.Rec.Processes[pid] == nil {
			return nil, fmt.Errorf("%s: there is no process %d in the recording", option, pid)
		}
	}
	paths := []string{n.Path}
	st, err := sys.Stat(n.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, safefile.PlainError(safefile.WithoutPath(err)))
	}
	if st.IsDir() {
		var alone []string
		if paths, alone, err = j9meta.FindCaptures(n.Path); err != nil {
			return nil, fmt.Errorf("%s: %w", option, safefile.WithoutPath(err))
		}
		switch {
		case len(paths) == 0 && len(alone) > 0:
			return nil, fmt.Errorf("%s: it has no capture (X.bin and X.json); without are %s", option, namesOf(alone))
		case len(paths) == 0:
			return nil, fmt.Errorf("%s: it has no capture (X.bin and X.json)", option)
		case len(alone) > 0:
			f.Left.Captures += len(alone)
			found.Problem(withoutJSON(n.Path, alone))
		}
	}
	of := make(map[uint32]*group)
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := OpenCapture(path, f.Rec.Machine, f.Rec.In.Order)
		switch {
		case errors.Is(err, errNotCapture): // a named file
			return nil, fmt.Errorf("%s: %w", option, errNotCapture)
		case err != nil && !st.IsDir():
			return nil, fmt.Errorf("%s: %w", option, err)
		case err != nil:
			advice := report.AdviceDamage(path)
			if errors.Is(err, errOtherMachine) {
				advice = report.AdviceOtherRun
			}
			f.Left.Captures++
			found.Problem(report.Problem{Code: report.ProblemUnused, Offset: -1, Text: err.Error() + "; its functions are missing", Advice: advice})
			continue
		case seen[filepath.Clean(c.Path)]: // named twice, or by its other file
			continue
		}
		seen[filepath.Clean(c.Path)] = true
		pid := n.PID
		if pid == 0 {
			pid = c.PID
		}
		if pid == 0 {
			pid = f.Opts.PID
		}
		g := of[pid]
		if g == nil {
			g = &group{path: n.Path, pid: pid, named: n.PID != 0 || c.PID == 0 && f.Opts.PID != 0}
			of[pid] = g
			groups = append(groups, g)
		}
		g.captures = append(g.captures, c)
	}
	return groups, nil
}

// withoutJSON returns the problem of metadata files in a directory that have no JSON file.
func withoutJSON(dir string, bins []string) report.Problem {
	p := report.Problem{Code: report.ProblemUnused, File: dir, Offset: -1, Advice: "add the JSON, or put what is no metadata of OpenJ9 into another directory"}
	if len(bins) == 1 {
		p.Text = fmt.Sprintf("%s is left out: a capture needs a JSON file beside it", namesOf(bins))
	} else {
		p.Text = fmt.Sprintf("%d files are left out, as each capture needs a JSON file beside it: %s", len(bins), namesOf(bins))
	}
	return p
}

// namesOf returns the names of some files, without their directory.
func namesOf(paths []string) string {
	var names []string
	for _, path := range paths[:min(len(paths), recording.MaxReasons)] {
		names = append(names, quote.Printable(filepath.Base(path)))
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// markCaptures makes a dump of the captures of a process, and its marker.
func markCaptures(f *locate.Finder, pid uint32, captures []*Capture, found *report.Findings) error {
	d := NewCaptures(captures, f.Rec.Machine)
	f.Left.Captures += len(d.Clashes)
	for _, x := range d.Clashes {
		found.Problem(report.Problem{Code: report.ProblemUnused, File: x.Capture.Path, Offset: -1, Text: fmt.Sprintf("it overlaps code of %s and has no time; it is left out", quote.Printable(x.Other.Path)),
			Advice: `give both a "time" in their JSON`})
	}
	for _, c := range d.Captures() {
		for _, err := range c.CodeErrors {
			found.Problem(report.Problem{Code: report.ProblemNoCode, File: c.Path, Offset: -1, Text: err.Error() + "; that code is without instructions, unless " + report.Mentioned("CodeFrom", "") + " has them",
				Advice: "leave the name out of the JSON, and name a core dump of the process if there is one: " + report.Mentioned("CodeFrom", "FILE")})
		}
		for _, p := range c.Problems {
			found.Problem(report.Problem{Code: report.ProblemDamage, File: c.Path, Offset: p.Offset, Text: p.Text, Advice: report.AdviceDamage(c.Path)})
		}
	}
	if len(d.Captures()) == 0 {
		return nil
	}
	path := d.Captures()[0].Path
	file, err := safefile.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", quote.Printable(path), safefile.PlainError(err))
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	s := &locate.SideFile{Path: path, File: file, Info: info, Source: d, Scanned: true, Taken: true}
	f.AddFile(s)
	first, earliest := uint64(0), clock.FirstProgram(f.Rec, pid)
	for _, c := range d.Captures() {
		if c.HasTime && f.Rec.ClockError() == "" && c.Time >= earliest && (first == 0 || c.Time < first) {
			first = c.Time
		}
	}
	// began stays 0: the time of a capture does not bound the clocks.
	m := recording.Marker{PID: pid, Number: d.PID(), Time: f.Rec.ProgramStart(pid, first), Path: path, Pos: -1, Place: "named with " + report.MentionedFile(Kind, "", "")}
	f.Mark(m, s)
	return nil
}
