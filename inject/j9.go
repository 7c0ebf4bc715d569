package inject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/source"
)

// Captures of OpenJ9's metadata. Nothing in a recording tells of them: the user names files, or
// directories of them. All those of a process are one dump, with a marker as if the process had
// mapped it.

// A j9Group are captures that were named together and say that they are of one process.
type j9Group struct {
	path     string // as it was named: a file, or a directory
	pid      uint32 // whose the user says that they are, or they do; 0 for nothing
	named    bool   // the user says so
	captures []*source.J9Capture
}

// captures finds the captures that were named, and makes markers for their processes. The error is
// ctx's, or of options that cannot be followed.
func captures(ctx context.Context, f *finder, sum *Summary) error {
	var groups []*j9Group
	seen := make(map[string]bool)
	// Those first of which the user says whose they are: they may be in a directory that is named as well.
	named := slices.Clone(f.opts.J9)
	slices.SortStableFunc(named, func(a, b NamedDump) int { return cmp.Compare(min(b.PID, 1), min(a.PID, 1)) })
	for _, n := range named {
		list, err := f.openCaptures(ctx, n, seen, sum)
		if err != nil {
			return err
		}
		groups = append(groups, list...)
	}
	if len(groups) == 0 {
		return nil
	}
	owners, err := f.ownersOfCaptures(ctx, groups, sum)
	if err != nil {
		return err
	}
	of := make(map[uint32][]*source.J9Capture)
	for _, g := range groups { // in the order of their names
		for _, c := range g.captures {
			if pid, ok := owners[c]; ok {
				of[pid] = append(of[pid], c)
			}
		}
	}
	for _, pid := range f.rec.pids() {
		if list := of[pid]; len(list) > 0 {
			if err := f.markCaptures(pid, list, sum); err != nil {
				return err
			}
		}
	}
	return nil
}

// openCaptures opens the captures of one option. What cannot be used of a file that is named is an
// error; of one in a directory, a problem.
func (f *finder) openCaptures(ctx context.Context, n NamedDump, seen map[string]bool, sum *Summary) (groups []*j9Group, err error) {
	option := "--j9 " + Printable(n.Path)
	if n.PID != 0 {
		option = fmt.Sprintf("--j9 %d=%s", n.PID, Printable(n.Path))
	}
	for _, pid := range []uint32{n.PID, f.opts.PID} {
		if pid != 0 && f.rec.processes[pid] == nil {
			return nil, fmt.Errorf("%s: there is no process %d in the recording", option, pid)
		}
	}
	paths := []string{n.Path}
	st, err := os.Stat(n.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, plainError(withoutPath(err)))
	}
	if st.IsDir() {
		var alone []string
		if paths, alone, err = source.FindJ9Captures(n.Path); err != nil {
			return nil, fmt.Errorf("%s: %w", option, withoutPath(err))
		}
		switch {
		case len(paths) == 0 && len(alone) > 0:
			return nil, fmt.Errorf("%s: there is no capture in it, which is a file X.bin with X.json beside it; without are %s", option, namesOf(alone))
		case len(paths) == 0:
			return nil, fmt.Errorf("%s: there is no capture in it, which is a file X.bin with X.json beside it", option)
		case len(alone) > 0:
			f.rec.capturesLeft += len(alone)
			sum.problem(withoutJSON(n.Path, alone))
		}
	}
	of := make(map[uint32]*j9Group)
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := source.OpenJ9Capture(path, f.rec.machine, f.rec.in.order)
		switch {
		case errors.Is(err, source.ErrNotJ9Capture): // of a file that is named
			return nil, fmt.Errorf("%s: %w", option, source.ErrNotJ9Capture)
		case err != nil && !st.IsDir():
			return nil, fmt.Errorf("%s: %w", option, err)
		case err != nil:
			advice := adviceVerify(path)
			if errors.Is(err, source.ErrOtherMachine) {
				advice = adviceOtherRun
			}
			f.rec.capturesLeft++
			sum.problem(Problem{Offset: -1, Text: err.Error() + "; its functions are missing", Advice: advice})
			continue
		case seen[filepath.Clean(c.Path)]: // named twice, also by its other file
			continue
		}
		seen[filepath.Clean(c.Path)] = true
		pid := n.PID
		if pid == 0 {
			pid = c.PID
		}
		if pid == 0 {
			pid = f.opts.PID
		}
		g := of[pid]
		if g == nil {
			g = &j9Group{path: n.Path, pid: pid, named: n.PID != 0 || c.PID == 0 && f.opts.PID != 0}
			of[pid] = g
			groups = append(groups, g)
		}
		g.captures = append(g.captures, c)
	}
	return groups, nil
}

// withoutJSON is the problem of metadata in a directory that has no JSON beside it.
func withoutJSON(dir string, bins []string) Problem {
	p := Problem{File: dir, Offset: -1, Advice: "add the JSON, or put what is no metadata of OpenJ9 into another directory"}
	if len(bins) == 1 {
		p.Text = fmt.Sprintf("%s is left out: there is no JSON beside it that would make it a capture", namesOf(bins))
	} else {
		p.Text = fmt.Sprintf("%d files are left out, as there is no JSON beside them that would make them captures: %s", len(bins), namesOf(bins))
	}
	return p
}

// namesOf returns the names of some files, without their directory.
func namesOf(paths []string) string {
	var names []string
	for _, path := range paths[:min(len(paths), maxReasons)] {
		names = append(names, Printable(filepath.Base(path)))
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// markCaptures makes a dump of the captures of a process, and its marker.
func (f *finder) markCaptures(pid uint32, captures []*source.J9Capture, sum *Summary) error {
	d := source.NewJ9Captures(captures, f.rec.machine)
	f.rec.capturesLeft += len(d.Clashes)
	for _, x := range d.Clashes {
		sum.problem(Problem{File: x.Capture.Path, Offset: -1, Text: fmt.Sprintf("its code is where that of %s is, and it does not say since when; it is left out", Printable(x.Other.Path)),
			Advice: `give both a "time" in their JSON`})
	}
	for _, c := range d.Captures() {
		for _, err := range c.CodeErrors {
			sum.problem(Problem{File: c.Path, Offset: -1, Text: err.Error() + "; that code is without instructions, unless --code-from has them",
				Advice: "leave the name out of the JSON, and name a core dump of the process if there is one: --code-from FILE"})
		}
		for _, p := range c.Problems {
			sum.problem(Problem{File: c.Path, Offset: p.Offset, Text: p.Text, Advice: adviceVerify(c.Path)})
		}
	}
	if len(d.Captures()) == 0 {
		return nil
	}
	path := d.Captures()[0].Path
	file, err := openFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", Printable(path), plainError(err))
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	s := &sideFile{path: path, file: file, info: info, source: d, scanned: true, taken: true}
	f.files = append(f.files, s)
	first, earliest := uint64(0), f.rec.firstProgram(pid)
	for _, c := range d.Captures() {
		if c.HasTime && f.rec.clockError() == "" && c.Time >= earliest && (first == 0 || c.Time < first) {
			first = c.Time
		}
	}
	// began stays 0: of the clocks, nothing is known by when captures were made.
	m := marker{pid: pid, number: d.PID(), time: f.rec.programStart(pid, first), path: path, pos: -1, place: "named with --j9"}
	f.mark(m, s)
	return nil
}

// matchCaptures decides since when the code of captures is there that do not say it, or say a time before
// the program: from its start on. It reports whether none of them says it, so that no clock matters.
func (d *dump) matchCaptures(rec *recording, mode string) bool {
	c := captureDump(d.source)
	if c == nil {
		return false
	}
	back, earliest := shifted(0), uint64(0)
	offset, given, err := givenOffset(mode)
	if given = given && err == nil && c.HasTimes(); given {
		back = shifted(-offset)
	}
	if given || rec.clockError() == "" {
		earliest = back(rec.firstProgram(d.markers[0].pid))
	}
	c.StartAt(earliest, func(addr uint64) uint64 { return back(rec.captureStart(d, addr)) })
	if c.HasTimes() {
		return false
	}
	d.clock, d.match = shifted(0), Clock{Kind: ClockStart, Error: -1}
	return true
}

// firstProgram returns when the first program began that a process ran in the recording. Nothing
// that was there before is there afterwards.
func (rec *recording) firstProgram(pid uint32) uint64 {
	if execs := rec.genealogy.execs[pid]; len(execs) > 0 {
		return execs[0]
	}
	if p := rec.processes[pid]; p != nil {
		return p.since
	}
	return 0
}

// captureStart returns since when code without a time is at an address. Of a stream, the records of the
// memory that it is in have gone their way when it is known, and hide what was there before them.
func (rec *recording) captureStart(d *dump, addr uint64) uint64 {
	start := d.markers[0].time
	if !rec.in.once {
		return start
	}
	for _, p := range rec.family(d.markers) {
		for i := range p.fileMaps {
			if m := &p.fileMaps[i]; m.name == "" && addr >= m.lo && addr < m.hi {
				start = max(start, m.time+1)
			}
		}
	}
	return start
}

// captureDump returns the captures that a dump is, or nil.
func captureDump(d source.Dump) *source.J9Captures {
	c, _ := d.(*source.J9Captures)
	return c
}

// reportCaptures adds what is to be said of captures.
func (d *plannedDump) reportCaptures(s *DumpSummary) {
	if c := captureDump(d.source); c != nil {
		s.Kind, s.Captures, s.Merged = KindJ9, len(c.Captures()), c.Repeated
	}
}

// otherFiles are the paths of a dump's files beside its first.
func (d *dump) otherFiles() (paths []string) {
	if c := captureDump(d.source); c != nil {
		for _, x := range c.Captures() {
			paths = append(paths, x.Path, strings.TrimSuffix(x.Path, ".bin")+".json")
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == d.path })
}
