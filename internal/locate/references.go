package locate

import (
	"fmt"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// A Reference is a dump that the recording mentions: related processes mapped a file of one name.
// Which file that is, the Finder decides. Several references may have one file as a candidate.
type Reference struct {
	Path string // without the kernel's suffix
	// Markers are its mappings, that of the oldest process first.
	Markers []recording.Marker
	// candidates are the files that may be its dump, those of the best places first.
	candidates []*candidate
	refusals   []refusal // of files that cannot be its dump
	// Dump is nil until a file is assigned.
	Dump *model.Dump
	// gone says that it was joined with another reference, or that its dump is ambiguous.
	gone bool
}

// NameDumps adds markers for processes without one if the user names their dumps. They count
// as mapped when the last program of the process began, or else at its first record. It fails for
// a process that the recording does not have.
func NameDumps(rec *recording.Recording, dumps []config.SideFile) error {
	for _, n := range dumps {
		if rec.NumMarkers(n.PID) > 0 {
			continue
		}
		p := rec.Processes[n.PID]
		if p == nil {
			return fmt.Errorf("%s: there is no process %d in the recording", n, n.PID)
		}
		m := recording.Marker{PID: n.PID, Time: p.Since, Path: n.Path, Pos: -1}
		if rec.ProcessTree.HasExec(n.PID) {
			m.Time = rec.ProcessTree.LastExec(n.PID, math.MaxUint64)
		}
		rec.Markers = append(rec.Markers, m)
	}
	return nil
}

// lead moves marker i to the front.
func (r *Reference) lead(i int) {
	m := r.Markers[i]
	r.Markers = slices.Insert(slices.Delete(r.Markers, i, i+1), 0, m)
}

// has reports whether a process has one of the markers.
func (r *Reference) has(pid uint32) bool {
	return slices.ContainsFunc(r.Markers, func(m recording.Marker) bool { return m.PID == pid })
}

// pids returns the processes of the markers.
func (r *Reference) pids() map[uint32]bool {
	pids := make(map[uint32]bool, len(r.Markers))
	for _, m := range r.Markers {
		pids[m.PID] = true
	}
	return pids
}

// numbered reports whether a dump with pid in its header may be this one: the number may be that
// of the process's own pid namespace.
func (r *Reference) numbered(pid uint32) bool {
	return pid == 0 || slices.ContainsFunc(r.Markers, func(m recording.Marker) bool { return m.PID == pid || m.Number == pid })
}

// isOfAncestor reports whether a process of the reference may descend from one with a number: a child may
// copy its parent's dump, with the header, and go on in the copy. After an exec, it has no code of the parent.
func (f *Finder) isOfAncestor(r *Reference, number uint32) bool {
	if f.numbered == nil {
		f.numbered = make(map[uint32][]uint32)
		for _, m := range f.Rec.Markers {
			f.numbered[m.Number] = append(f.numbered[m.Number], m.PID)
		}
	}
	return slices.ContainsFunc(r.Markers, func(m recording.Marker) bool {
		line := f.Rec.ProcessTree.Heritage([]recording.Marker{m})
		return slices.Contains(line, number) || slices.ContainsFunc(f.numbered[number], func(pid uint32) bool { return slices.Contains(line, pid) })
	})
}

// named returns the file that the user names for one of the processes.
func (r *Reference) named(dumps []config.SideFile) (config.SideFile, bool) {
	i := slices.IndexFunc(dumps, func(n config.SideFile) bool { return r.has(n.PID) })
	if i < 0 {
		return config.SideFile{}, false
	}
	return dumps[i], true
}

// dumpOf returns the dump that the reference has if s is its file.
func (r *Reference) dumpOf(s *SideFile) *model.Dump {
	if i := slices.IndexFunc(r.Markers, func(m recording.Marker) bool { return m.PID == s.Source.PID() }); i > 0 {
		r.lead(i)
	}
	return &model.Dump{Path: s.Path, Live: s.live, PID: r.Markers[0].PID, Markers: r.Markers, File: s.File, Source: s.Source}
}

// candidate returns the reference's candidate that is the given file, or nil. Refuted ones do not
// count.
func (r *Reference) candidate(s *SideFile) *candidate {
	for _, cand := range r.candidates {
		if cand.SideFile == s && cand.confidence != recording.Refuted {
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
func (r *Reference) Problem() (p report.Problem, ok bool) {
	for _, f := range r.refusals {
		if f.file == nil || !f.file.Taken {
			return f.Problem, true
		}
	}
	return report.Problem{}, false
}

// unusable adds a refusal of a file that cannot be opened as the dump.
func (r *Reference) unusable(path string, err error) {
	text := fmt.Sprintf("process %d: cannot use its dump %s: %v", r.Markers[0].PID, quote.Printable(path), err)
	r.refusals = append(r.refusals, refusal{report.Problem{Code: report.ProblemNoDump, Offset: -1, Text: text, Advice: report.AdviceNamed(r.Markers[0].PID, err)}, nil})
}
