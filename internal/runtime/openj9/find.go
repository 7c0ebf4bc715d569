package openj9

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

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

// Recordings do not mention captures: the user names files, or directories of them. The process is
// from the user, or from the captures. All captures of a process are one dump, with a marker as if
// the process had mapped it.

// A finder finds the named captures.
type finder struct {
	*locate.Finder
	found *report.Findings
	seen  map[string]bool
	codes sharing
	of    map[uint32][]*Capture // by process, in the order of their names
}

// Find finds the named captures, and makes markers for their processes. The error is ctx's, or that
// of unusable options.
func Find(ctx context.Context, l *locate.Finder, found *report.Findings) error {
	f := &finder{Finder: l, found: found, seen: make(map[string]bool), codes: make(sharing), of: make(map[uint32][]*Capture)}
	// First those with a process from the user: they may also be in a named directory.
	named := l.Opts.Named(Kind)
	sorting.Stable(named, func(a, b config.SideFile) int { return cmp.Compare(min(b.PID, 1), min(a.PID, 1)) })
	for _, n := range named {
		if err := f.open(ctx, n); err != nil {
			return err
		}
	}
	for _, pid := range l.Rec.PIDs() {
		if list := f.withoutClashes(f.of[pid]); len(list) > 0 {
			if err := f.mark(pid, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// open opens the captures of one option. An unusable named file is an error. An unusable file in a
// named directory is a problem.
func (f *finder) open(ctx context.Context, n config.SideFile) error {
	for _, pid := range []uint32{n.PID, f.Opts.PID} {
		if pid != 0 && f.Rec.Processes[pid] == nil {
			return fmt.Errorf("%s: there is no process %d in the recording", n, pid)
		}
	}
	st, err := sys.Stat(n.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", n, safefile.PlainError(safefile.WithoutPath(err)))
	}
	paths := []string{n.Path}
	if st.IsDir() {
		if paths, err = j9meta.FindCaptures(n.Path); err != nil {
			return fmt.Errorf("%s: %w", n, safefile.WithoutPath(err))
		}
		if len(paths) == 0 {
			return fmt.Errorf("%s: it has no capture (X.bin and X.json)", n)
		}
	}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := f.codes.open(path, f.Rec.Machine, f.Rec.In.Order)
		switch {
		case errors.Is(err, j9meta.ErrNotCapture): // a named file
			return fmt.Errorf("%s: %w", n, j9meta.ErrNotCapture)
		case err != nil && !st.IsDir():
			return fmt.Errorf("%s: %w", n, err)
		case err != nil:
			advice := report.AdviceDamage(path)
			if errors.Is(err, errOtherMachine) {
				advice = report.AdviceOtherRun
			}
			f.leave("", err.Error()+"; its functions are missing", advice)
		case !f.seen[filepath.Clean(c.Path)]: // named once, and not by its other file
			f.seen[filepath.Clean(c.Path)] = true
			f.assign(c, cmp.Or(n.PID, c.PID, f.Opts.PID))
		}
	}
	return nil
}

// assign assigns a capture to its process.
func (f *finder) assign(c *Capture, pid uint32) {
	switch {
	case pid == 0:
		f.leave(c.Path, "it does not name its process; it is left out", "name the process: "+report.MentionedSideFile(Kind, "PID", c.Path))
	case f.Rec.Processes[pid] == nil:
		f.leave(c.Path, fmt.Sprintf("it is of process %d, which is not in the recording; it is left out", pid), report.AdviceOtherRun)
	default:
		f.of[pid] = append(f.of[pid], c)
	}
}

// leave reports that a capture is not used.
func (f *finder) leave(path, text, advice string) {
	f.Left.Captures++
	f.found.Problem(report.Problem{Code: report.ProblemUnused, File: path, Offset: -1, Text: text, Advice: advice})
}

// withoutClashes drops captures without times that share addresses: their order is unknown. Of
// captures of one body, the first stays. A capture with a time replaces one without, from its time on.
func (f *finder) withoutClashes(captures []*Capture) []*Capture {
	type place struct {
		part
		c *Capture
	}
	var places []place
	for _, c := range captures {
		for _, p := range c.parts {
			if !c.HasTime {
				places = append(places, place{p, c})
			}
		}
	}
	sorting.Stable(places, func(a, b place) int { return cmp.Compare(a.addr, b.addr) })
	dropped := make(map[*Capture]bool)
	clash := func(c, other *Capture) {
		if !dropped[c] {
			dropped[c] = true
			f.leave(c.Path, fmt.Sprintf("it overlaps code of %s and has no time; it is left out", quote.Printable(other.Path)), `give both a "time" in their JSON`)
		}
	}
	furthest := place{}
	for _, p := range places {
		switch {
		case p.addr >= furthest.addr+furthest.size || p.c == furthest.c:
		case p.addr == furthest.addr && p.size == furthest.size && p.c.method == furthest.c.method:
			dropped[p.c] = true
		default:
			clash(furthest.c, p.c)
			clash(p.c, furthest.c)
		}
		if p.addr+p.size > furthest.addr+furthest.size {
			furthest = p
		}
	}
	return slices.DeleteFunc(slices.Clone(captures), func(c *Capture) bool { return dropped[c] })
}

// mark makes a dump of the captures of a process, and its marker.
func (f *finder) mark(pid uint32, captures []*Capture) error {
	first, earliest := uint64(0), clock.FirstProgram(f.Rec, pid)
	for _, c := range captures {
		for _, err := range c.CodeErrors {
			f.found.Problem(report.Problem{Code: report.ProblemNoCode, File: c.Path, Offset: -1, Text: err.Error() + "; that code is without instructions, unless " + report.Mentioned("CodeFrom", "") + " has them",
				Advice: "leave the name out of the JSON, and name a core dump of the process if there is one: " + report.Mentioned("CodeFrom", "FILE")})
		}
		for _, p := range c.Problems {
			f.found.Problem(report.Problem{Code: report.ProblemDamage, File: c.Path, Offset: p.Offset, Text: p.Text, Advice: report.AdviceDamage(c.Path)})
		}
		if c.HasTime && f.Rec.ClockError() == "" && c.Time >= earliest && (first == 0 || c.Time < first) {
			first = c.Time
		}
	}
	d, path := NewCaptures(captures, f.Rec.Machine), captures[0].Path
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
	// began stays 0: the time of a capture does not bound the clocks.
	m := recording.Marker{PID: pid, Number: d.PID(), Time: f.Rec.ProgramStart(pid, first), Path: path, Pos: -1, Place: "named with " + report.MentionedFile(Kind, "", "")}
	f.Mark(m, s)
	return nil
}
