package locate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// A Reference is a dump that the recording mentions: related processes mapped a file of one name.
// Which file that is, the Finder decides. Several references may have one file as a candidate.
type Reference struct {
	Path string // without the kernel's suffix
	// Markers are its mappings, that of the oldest process first.
	Markers []recording.Marker
	// Candidates are the files that may be its dump, those of the best places first.
	Candidates []*candidate
	refusals   []refusal // of files that cannot be its dump
	// Dump is nil until a file is assigned.
	Dump *model.Dump
	// gone says that it was joined with another reference, or that its dump is ambiguous.
	gone bool
}

// NameDumps adds markers for processes that have none but whose dumps the user names. They count
// as mapped when the last program of the process began, or else at its first record. It fails for
// a process that the recording does not have.
func NameDumps(rec *recording.Recording, dumps []config.SideFile) error {
	for _, n := range dumps {
		if slices.ContainsFunc(rec.Markers, func(m recording.Marker) bool { return m.PID == n.PID }) {
			continue
		}
		p := rec.Processes[n.PID]
		if p == nil {
			return fmt.Errorf("%s: there is no process %d in the recording", n, n.PID)
		}
		m := recording.Marker{PID: n.PID, Time: p.Since, Path: n.Path, Pos: -1}
		if execs := rec.ProcessTree.Execs[n.PID]; len(execs) > 0 {
			m.Time = execs[len(execs)-1]
		}
		rec.Markers = append(rec.Markers, m)
	}
	return nil
}

// referencesOf returns the references of a recording, with all markers of one dump together.
func referencesOf(rec *recording.Recording) (references []*Reference) {
	named := make(map[string][]*Reference) // by the last part of the path
	for _, m := range rec.Markers {
		path := strings.TrimSuffix(m.Path, recording.DeletedSuffix)
		base := filepath.Base(path)
		i := slices.IndexFunc(named[base], func(c *Reference) bool {
			return sameFile(rec, &c.Markers[0], &m) && related(rec, c.Markers[0], m)
		})
		if i >= 0 {
			c := named[base][i]
			c.Markers = append(c.Markers, m)
			continue
		}
		c := &Reference{Path: path, Markers: []recording.Marker{m}}
		references = append(references, c)
		named[base] = append(named[base], c)
	}
	for _, c := range references {
		c.sort(rec)
	}
	return references
}

// sameFile reports whether two markers name the same file, as far as the recording shows. One
// path is another file in another container, or when it is made again.
func sameFile(rec *recording.Recording, a, b *recording.Marker) bool {
	if known := (perfdata.FileIdentity{}); a.File != known && b.File != known {
		return a.File == b.File
	}
	if strings.TrimSuffix(a.Path, recording.DeletedSuffix) != strings.TrimSuffix(b.Path, recording.DeletedSuffix) {
		return false
	}
	mount := func(m *recording.Marker) perfdata.Namespace {
		if p := rec.Processes[m.PID]; p != nil {
			return p.Mount
		}
		return perfdata.Namespace{}
	}
	known := perfdata.Namespace{}
	return mount(a) == mount(b) || mount(a) == known || mount(b) == known
}

// related reports whether one of two processes descends from the other.
func related(rec *recording.Recording, a, b recording.Marker) bool {
	g := &rec.ProcessTree
	return a.PID == b.PID || g.Descends(b.PID, b.Time, func(pid uint32) bool { return pid == a.PID }) ||
		g.Descends(a.PID, a.Time, func(pid uint32) bool { return pid == b.PID })
}

// sort moves the marker of the process from which the others descend to the front.
func (c *Reference) sort(rec *recording.Recording) {
	for i, m := range c.Markers {
		if !rec.ProcessTree.Descends(m.PID, m.Time, func(pid uint32) bool { return pid != m.PID && c.has(pid) }) {
			c.lead(i)
			return
		}
	}
}

// lead moves marker i to the front.
func (c *Reference) lead(i int) {
	m := c.Markers[i]
	c.Markers = slices.Insert(slices.Delete(c.Markers, i, i+1), 0, m)
}

// has reports whether a process has one of the markers.
func (c *Reference) has(pid uint32) bool {
	return slices.ContainsFunc(c.Markers, func(m recording.Marker) bool { return m.PID == pid })
}

// numbered reports whether a dump with pid in its header may be this one: the number may be that
// of the process's own pid namespace.
func (c *Reference) numbered(pid uint32) bool {
	return pid == 0 || slices.ContainsFunc(c.Markers, func(m recording.Marker) bool { return m.PID == pid || m.Number == pid })
}

// named returns the file that the user names for one of the processes.
func (c *Reference) named(dumps []config.SideFile) (config.SideFile, bool) {
	i := slices.IndexFunc(dumps, func(n config.SideFile) bool { return c.has(n.PID) })
	if i < 0 {
		return config.SideFile{}, false
	}
	return dumps[i], true
}

// dumpOf returns the dump that the reference has if s is its file.
func (c *Reference) dumpOf(s *SideFile) *model.Dump {
	if i := slices.IndexFunc(c.Markers, func(m recording.Marker) bool { return m.PID == s.Source.PID() }); i > 0 {
		c.lead(i)
	}
	return &model.Dump{Path: s.Path, Live: s.live, PID: c.Markers[0].PID, Markers: c.Markers, File: s.File, Source: s.Source}
}

// best returns the best candidate of a level that is not assigned yet, or nil.
func (c *Reference) best(level recording.Confidence) *candidate {
	for _, cand := range c.Candidates {
		if cand.Confidence == level && !cand.assigned {
			return cand
		}
	}
	return nil
}

// candidate returns the reference's candidate that is the given file, or nil. Refuted ones do not
// count.
func (c *Reference) candidate(s *SideFile) *candidate {
	for _, cand := range c.Candidates {
		if cand.SideFile == s && cand.Confidence != recording.Refuted {
			return cand
		}
	}
	return nil
}

// A refusal is the problem of a file that cannot be the dump of a reference.
type refusal struct {
	report.Problem
	file *SideFile // nil if it cannot be opened
}

// Problem returns the reason why there is no dump. It ignores files that are the dumps of others.
// ok is false if there was no file at all.
func (c *Reference) Problem() (p report.Problem, ok bool) {
	for _, f := range c.refusals {
		if f.file == nil || !f.file.Taken {
			return f.Problem, true
		}
	}
	return report.Problem{}, false
}

// unusable adds a refusal of a file that cannot be opened as the dump.
func (c *Reference) unusable(path string, err error) {
	text := fmt.Sprintf("process %d: cannot use its dump %s: %v", c.Markers[0].PID, quote.Printable(path), err)
	c.refusals = append(c.refusals, refusal{report.Problem{Offset: -1, Text: text, Advice: report.AdviceNamed(c.Markers[0].PID, err)}, nil})
}
