package openj9

import (
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// The process of captures. It comes from the user, or from the captures; then the addresses of
// their code must not contradict it. Otherwise it is the only process with executable memory at
// the code of a capture.

// ownersOfCaptures returns the process of each capture. Captures without one become problems.
func ownersOfCaptures(f *locate.Finder, groups []*group, found *report.Findings) map[*Capture]uint32 {
	owners := make(map[*Capture]uint32)
	all := memories(f.Rec)
	for _, g := range groups {
		text, advice := g.contradiction(f.Rec, all), report.AdviceOtherRun
		var left []string
		for _, c := range g.captures {
			pid := g.pid
			if pid == 0 {
				pid = all.holding(c.Addr())
			}
			if pid == 0 || text != "" {
				left = append(left, c.Path)
			} else {
				owners[c] = pid
			}
		}
		if len(left) == 0 {
			continue
		}
		if g.pid == 0 {
			text = "without a named process, exactly one must have had executable memory where the code is"
			advice = "name the process: " + report.MentionedSideFile(Kind, "PID", left[0])
		}
		f.Left.Captures += len(left)
		found.Problem(report.Problem{Code: report.ProblemUnused, File: g.path, Offset: -1, Advice: advice,
			Text: fmt.Sprintf("%d of %d captures (%s) are left out: %s", len(left), len(g.captures), namesOf(left), text)})
	}
	return owners
}

// A memory has the executable memory of each process that has any.
type memory map[uint32]recording.Ranges

func memories(rec *recording.Recording) memory {
	all := make(memory)
	for _, pid := range rec.PIDs() {
		if p := rec.Processes[pid]; pid != 0 && p != nil && len(p.Memory) > 0 {
			all[pid] = rec.RelatedMemory([]recording.Marker{{PID: pid, Time: recording.LatestTime}}).Executable
		}
	}
	return all
}

// holding returns the only process with executable memory at an address, or 0.
func (m memory) holding(addr uint64) (only uint32) {
	for pid, ranges := range m {
		if !ranges.Hold(addr) {
			continue
		}
		if only != 0 {
			return 0
		}
		only = pid
	}
	return only
}

// contradiction returns the reason why captures cannot belong to the process that they name, or "". It
// does not doubt a process from the user.
func (g *group) contradiction(rec *recording.Recording, all memory) string {
	if g.pid == 0 || g.named {
		return ""
	}
	if rec.Processes[g.pid] == nil {
		return fmt.Sprintf("they say that they are of process %d, which is not in the recording", g.pid)
	}
	if ranges, known := all[g.pid]; known && !slices.ContainsFunc(g.captures, func(c *Capture) bool { return ranges.Hold(c.Addr()) }) {
		return fmt.Sprintf("they say that they are of process %d, and their code is not where that one had executable memory", g.pid)
	}
	return ""
}
