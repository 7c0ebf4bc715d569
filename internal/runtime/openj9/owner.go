package openj9

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// The process of captures. It comes from the user, or from the captures; then the addresses of
// their code must not contradict it. Otherwise it is the process with executable memory at these
// addresses. If several processes fit, the other captures of the group decide, then samples in the
// code.

// A class has the captures of a group with the same possible processes.
type class struct {
	group    *group
	captures []*Capture
	fits     []uint32 // processes with executable memory at the code
}

// ownersOfCaptures returns the process of each capture. Captures without one become problems.
func ownersOfCaptures(ctx context.Context, f *locate.Finder, groups []*group, found *report.Findings) (map[*Capture]uint32, error) {
	owners := make(map[*Capture]uint32)
	give := func(captures []*Capture, pid uint32) {
		for _, c := range captures {
			owners[c] = pid
		}
	}
	var open []*class
	for _, g := range groups {
		switch not := claimed(f.Rec, g); {
		case g.pid == 0:
			open = append(open, classesOf(f.Rec, g)...)
		case not != "":
			f.Left.Captures += len(g.captures)
			found.Problem(g.problem(g.captures, report.AdviceOtherRun, not))
		default:
			give(g.captures, g.pid)
		}
	}
	var several []*class
	for _, c := range open {
		if len(c.fits) == 1 {
			give(c.captures, c.fits[0])
		} else {
			several = append(several, c)
		}
	}
	if len(several) == 0 {
		return owners, nil
	}
	samples, err := samplesIn(ctx, f, several)
	if err != nil {
		return nil, err
	}
	var left []*class
	choice := make(map[*class][]uint32)
	for _, c := range several {
		if choice[c] = chosen(f.Rec, c, open, samples[c]); len(choice[c]) == 1 {
			give(c.captures, choice[c][0])
		} else {
			left = append(left, c)
		}
	}
	for _, c := range left {
		f.Left.Captures += len(c.captures)
		g := c.group
		if len(choice[c]) == 0 {
			text := c.say("no process of the recording had executable memory where its code is; is it of another run?", "no process of the recording had executable memory where their code is; are they of another run?")
			if others := given(g, owners); others != "" {
				text += " " + others
			}
			found.Problem(g.problem(c.captures, g.name(c.captures), text))
			continue
		}
		found.Problem(g.problem(c.captures, g.name(c.captures), c.say("it may be", "they may be")+" of any of the processes "+someProcesses(choice[c])))
	}
	return owners, nil
}

// someProcesses returns the first few of some processes, in words.
func someProcesses(pids []uint32) string {
	var names []string
	for _, pid := range pids[:min(len(pids), recording.MaxReasons)] {
		names = append(names, fmt.Sprint(pid))
	}
	return strings.Join(names, ", ")
}

// given returns a sentence with the number of a group's captures that have an owner, "" for none.
func given(g *group, owners map[*Capture]uint32) string {
	n := 0
	var pids []uint32
	for _, c := range g.captures {
		if pid, ok := owners[c]; ok {
			n++
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	pids = slices.Compact(pids)
	switch {
	case n == 0:
		return ""
	case len(pids) == 1:
		return fmt.Sprintf("%d of %d are of process %d", n, len(g.captures), pids[0])
	}
	return fmt.Sprintf("%d of %d are of processes %s", n, len(g.captures), someProcesses(pids))
}

// problem returns a problem of captures of a group. If some are unaffected, it lists the names.
func (g *group) problem(captures []*Capture, advice, text string) report.Problem {
	p := report.Problem{File: g.path, Offset: -1, Text: text, Advice: advice}
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

func (c *class) say(one, several string) string { return say(c.captures, one, several) }

// name returns the advice to name the process of captures.
func (g *group) name(captures []*Capture) string {
	path := g.path
	if len(captures) < len(g.captures) {
		if path = captures[0].Path; len(captures) > 1 {
			return "name the process of each: " + report.MentionedFile(Kind, "PID", report.NamedPath(path))
		}
	}
	return "name the process: " + report.MentionedFile(Kind, "PID", report.NamedPath(path))
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

// classesOf groups the captures of a group by the processes with executable memory at their code. A
// process counts only if it fits about as many captures of the group as the best one.
func classesOf(rec *recording.Recording, g *group) (classes []*class) {
	fits := make([][]uint32, len(g.captures))
	count := make(map[uint32]int)
	for _, pid := range rec.PIDs() {
		if pid == 0 || !knowsMemory(rec, pid) {
			continue
		}
		memory := executableOf(rec, pid)
		for i, c := range g.captures {
			if memory.Hold(c.Addr()) {
				fits[i] = append(fits[i], pid)
				count[pid]++
			}
		}
	}
	for i, c := range g.captures {
		most := 0
		for _, pid := range fits[i] {
			most = max(most, count[pid])
		}
		fits[i] = slices.DeleteFunc(fits[i], func(pid uint32) bool { return count[pid] < most-most/10 })
		n := slices.IndexFunc(classes, func(x *class) bool { return slices.Equal(x.fits, fits[i]) })
		if n < 0 {
			n = len(classes)
			classes = append(classes, &class{group: g, fits: fits[i]})
		}
		classes[n].captures = append(classes[n].captures, c)
	}
	return classes
}

// chosen returns the possible processes of a class. Processes with samples in the code take
// precedence. Of these, it returns those that fit the most captures of the group.
func chosen(rec *recording.Recording, c *class, all []*class, samples map[uint32]int) (pids []uint32) {
	for _, pid := range rec.PIDs() {
		if samples[pid] > 0 && (len(c.fits) == 0 && !knowsMemory(rec, pid) || slices.Contains(c.fits, pid)) {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		pids = slices.Clone(c.fits)
	}
	count := make(map[uint32]int)
	most := 0
	for _, pid := range pids {
		for _, x := range all {
			if x.group == c.group && slices.Contains(x.fits, pid) {
				count[pid] += len(x.captures)
			}
		}
		most = max(most, count[pid])
	}
	return slices.DeleteFunc(pids, func(pid uint32) bool { return count[pid] < most })
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

// samplesIn counts the samples of each process in the code of captures.
func samplesIn(ctx context.Context, f *locate.Finder, classes []*class) (map[*class]map[uint32]int, error) {
	counts := make(map[*class]map[uint32]int)
	for _, c := range classes {
		counts[c] = make(map[uint32]int)
	}
	code := make([]recording.Ranges, len(classes))
	for i, c := range classes {
		var parts []recording.FileMap
		for _, x := range c.captures {
			x.Parts(func(lo, hi uint64) { parts = append(parts, recording.FileMap{Lo: lo, Hi: hi}) })
		}
		code[i] = recording.ExactRanges(parts, func(*recording.FileMap) bool { return true })
	}
	for block, err := range f.Rec.In.Walk(ctx, report.PhaseSamples) {
		if err != nil {
			return nil, err
		}
		for _, r := range block.Records() {
			if r.Type != perfdata.RecordSample || !recording.IsUser(r) {
				continue
			}
			head, ok := f.Rec.Layouts.SampleHead(r)
			if !ok {
				continue
			}
			for i, c := range classes {
				if code[i].Hold(head.IP) {
					counts[c][head.PID]++
				}
			}
		}
	}
	return counts, nil
}
