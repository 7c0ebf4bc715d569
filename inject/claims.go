package inject

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/perfdata"
)

// A claim is a dump as the recording tells of it: that some processes, related to
// each other, mapped a file of a name. Which file that is has to be found out, and
// several claims may reach for one.
type claim struct {
	path       string // without what the kernel says about it
	markers    []marker
	candidates []*candidate
	refusals   []refusal // of files that cannot be its dump
	dump       *dump
	gone       bool // into another claim, or nobody can tell what its dump is
}

// nameDumps makes markers for processes that have none but whose dumps were named.
// They count as mapped when the last program of the process began, or when the
// recording first tells of it.
func (rec *recording) nameDumps(dumps []NamedDump) error {
	for _, n := range dumps {
		if slices.ContainsFunc(rec.markers, func(m marker) bool { return m.pid == n.PID }) {
			continue
		}
		p := rec.processes[n.PID]
		if p == nil {
			return fmt.Errorf("--dump %d=%s: there is no process %d in the recording", n.PID, Printable(n.Path), n.PID)
		}
		m := marker{pid: n.PID, time: p.since, path: n.Path, pos: -1}
		if execs := rec.genealogy.execs[n.PID]; len(execs) > 0 {
			m.time = execs[len(execs)-1]
		}
		rec.markers = append(rec.markers, m)
	}
	return nil
}

// claimsOf puts the markers together that are about one dump.
func claimsOf(rec *recording) (claims []*claim) {
	named := make(map[string][]*claim) // by the last part of the path
	for _, m := range rec.markers {
		path := strings.TrimSuffix(m.path, deletedSuffix)
		base := filepath.Base(path)
		i := slices.IndexFunc(named[base], func(c *claim) bool {
			return rec.sameFile(&c.markers[0], &m) && rec.related(c.markers[0], m)
		})
		if i >= 0 {
			c := named[base][i]
			c.markers = append(c.markers, m)
			continue
		}
		c := &claim{path: path, markers: []marker{m}}
		claims = append(claims, c)
		named[base] = append(named[base], c)
	}
	for _, c := range claims {
		c.sort(rec)
	}
	return claims
}

// sameFile reports whether two markers name the same file, as far as the recording
// tells. One path is another file in another container, or when it is made again.
func (rec *recording) sameFile(a, b *marker) bool {
	if known := (perfdata.FileIdentity{}); a.file != known && b.file != known {
		return a.file == b.file
	}
	if strings.TrimSuffix(a.path, deletedSuffix) != strings.TrimSuffix(b.path, deletedSuffix) {
		return false
	}
	mount := func(m *marker) perfdata.Namespace {
		if p := rec.processes[m.pid]; p != nil {
			return p.mount
		}
		return perfdata.Namespace{}
	}
	known := perfdata.Namespace{}
	return mount(a) == mount(b) || mount(a) == known || mount(b) == known
}

// related reports whether one of two processes comes from the other.
func (rec *recording) related(a, b marker) bool {
	g := &rec.genealogy
	return a.pid == b.pid || g.descends(b.pid, b.time, func(pid uint32) bool { return pid == a.pid }) ||
		g.descends(a.pid, a.time, func(pid uint32) bool { return pid == b.pid })
}

// sort puts the marker first of the process from which the others come.
func (c *claim) sort(rec *recording) {
	for i, m := range c.markers {
		if !rec.genealogy.descends(m.pid, m.time, func(pid uint32) bool { return pid != m.pid && c.has(pid) }) {
			c.lead(i)
			return
		}
	}
}

func (c *claim) lead(i int) {
	m := c.markers[i]
	c.markers = slices.Insert(slices.Delete(c.markers, i, i+1), 0, m)
}

// has reports whether one of the markers is a process's.
func (c *claim) has(pid uint32) bool {
	return slices.ContainsFunc(c.markers, func(m marker) bool { return m.pid == pid })
}

// numbered reports whether a dump that says it is of process pid may be this one:
// that number may count in the process's own pid namespace.
func (c *claim) numbered(pid uint32) bool {
	return pid == 0 || slices.ContainsFunc(c.markers, func(m marker) bool { return m.pid == pid || m.number == pid })
}

// named returns the file that the user has named for one of the processes.
func (c *claim) named(dumps []NamedDump) (NamedDump, bool) {
	i := slices.IndexFunc(dumps, func(n NamedDump) bool { return c.has(n.PID) })
	if i < 0 {
		return NamedDump{}, false
	}
	return dumps[i], true
}

// dumpOf returns the dump that the claim has if it is that file.
func (c *claim) dumpOf(s *sideFile) *dump {
	if i := slices.IndexFunc(c.markers, func(m marker) bool { return m.pid == s.source.PID() }); i > 0 {
		c.lead(i)
	}
	return &dump{path: s.path, live: s.live, pid: c.markers[0].pid, markers: c.markers, file: s.file, source: s.source}
}

// best returns the best candidate of a claim that is still to be had, or nil.
func (c *claim) best(level confidence) *candidate {
	for _, cand := range c.candidates {
		if cand.confidence == level && !cand.settled {
			return cand
		}
	}
	return nil
}

// candidate returns the claim's candidate that is the given file, or nil.
func (c *claim) candidate(s *sideFile) *candidate {
	for _, cand := range c.candidates {
		if cand.sideFile == s && cand.confidence != refuted {
			return cand
		}
	}
	return nil
}

// A refusal is the problem of a file that cannot be a claim's dump.
type refusal struct {
	Problem
	file *sideFile // nil if it cannot be opened
}

// problem says why there is no dump. A file that is another's is none of its
// business; ok is false if there was no file at all.
func (c *claim) problem() (p Problem, ok bool) {
	for _, f := range c.refusals {
		if f.file == nil || !f.file.taken {
			return f.Problem, true
		}
	}
	return Problem{}, false
}

// unusable keeps that a file cannot be opened as the claim's dump.
func (c *claim) unusable(path string, err error) {
	text := fmt.Sprintf("process %d: cannot use its dump %s: %v", c.markers[0].pid, Printable(path), err)
	c.refusals = append(c.refusals, refusal{Problem{Offset: -1, Text: text, Advice: adviceNamed(c.markers[0].pid, err)}, nil})
}
