package openj9

import (
	"fmt"

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
	for _, g := range groups {
		advice, text := report.AdviceOtherRun, claimed(f.Rec, g)
		var left []*Capture
		memory := memories(f.Rec)
		for _, c := range g.captures {
			if pids := memory.holding(c.Addr()); g.pid == 0 && len(pids) == 1 {
				owners[c] = pids[0]
			} else if g.pid != 0 && text == "" {
				owners[c] = g.pid
			} else {
				left = append(left, c)
			}
		}
		if len(left) == 0 {
			continue
		}
		if g.pid == 0 {
			advice = g.name(left)
			text = say(left, "it names", "they name") + " no process, and not exactly one had executable memory where " + say(left, "its", "their") + " code is"
		}
		f.Left.Captures += len(left)
		found.Problem(g.problem(left, advice, text))
	}
	return owners
}

// A memory has the executable memory of each process that has any.
type memory map[uint32]recording.Ranges

func memories(rec *recording.Recording) memory {
	all := make(memory)
	for _, pid := range rec.PIDs() {
		if pid != 0 && knowsMemory(rec, pid) {
			all[pid] = executableOf(rec, pid)
		}
	}
	return all
}

// holding returns the processes with executable memory at an address.
func (m memory) holding(addr uint64) (pids []uint32) {
	for pid, ranges := range m {
		if ranges.Hold(addr) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// problem returns a problem of captures of a group. If some are unaffected, it lists the names.
func (g *group) problem(captures []*Capture, advice, text string) report.Problem {
	p := report.Problem{Code: report.ProblemUnused, File: g.path, Offset: -1, Text: text, Advice: advice}
	switch all := len(g.captures); {
	case len(captures) < all:
		var names []string
		for _, c := range captures {
			names = append(names, c.Path)
		}
		p.Text = fmt.Sprintf("%d of %d captures (%s) %s left out: %s", len(captures), all, namesOf(names), say(captures, "is", "are"), text)
	case all > 1:
		p.Text = fmt.Sprintf("%d captures: %s", all, text)
	}
	return p
}

// say selects the singular or plural form for captures.
func say(captures []*Capture, one, several string) string {
	if len(captures) > 1 {
		return several
	}
	return one
}

func (g *group) say(one, several string) string { return say(g.captures, one, several) }

// name returns the advice to name the process of captures.
func (g *group) name(captures []*Capture) string {
	path := g.path
	if len(captures) < len(g.captures) {
		if path = captures[0].Path; len(captures) > 1 {
			return "name the process of each: " + report.MentionedSideFile(Kind, "PID", path)
		}
	}
	return "name the process: " + report.MentionedSideFile(Kind, "PID", path)
}

// claimed returns the reason why captures cannot belong to the process they name, or "". It does
// not doubt a process from the user.
func claimed(rec *recording.Recording, g *group) string {
	if g.pid == 0 || g.named {
		return ""
	}
	says := g.say("it says that it is", "they say that they are")
	if rec.Processes[g.pid] == nil {
		return fmt.Sprintf("%s of process %d, which is not in the recording: %s of another run", says, g.pid, g.say("it is", "they are"))
	}
	if inside, outside := capturesIn(rec, g.pid, g.captures); knowsMemory(rec, g.pid) && inside == 0 && outside > 0 {
		return fmt.Sprintf("%s of process %d, and %s code is not where that one had executable memory: %s of another run", says, g.pid, g.say("its", "their"), g.say("it is", "they are"))
	}
	return ""
}

// knowsMemory reports whether the recording has memory of a process that may contain JIT code.
func knowsMemory(rec *recording.Recording, pid uint32) bool {
	p := rec.Processes[pid]
	return p != nil && len(p.Memory) > 0
}

// executableOf returns the executable memory of a process and of those related to it.
func executableOf(rec *recording.Recording, pid uint32) recording.Ranges {
	related := rec.Related([]recording.Marker{{PID: pid, Time: recording.LatestTime}})
	return recording.ExecutableOf(related)
}

// capturesIn probes captures, and counts those in executable memory of a process, and others. It
// probes about recording.MaxProbes captures.
func capturesIn(rec *recording.Recording, pid uint32, captures []*Capture) (inside, outside int) {
	memory := executableOf(rec, pid)
	for i := 0; i < len(captures); i += 1 + len(captures)/recording.MaxProbes {
		if memory.Hold(captures[i].Addr()) {
			inside++
		} else {
			outside++
		}
	}
	return inside, outside
}
