package inject

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/perfdata"
)

// Whose captures are. The user says it, or they do themselves; then where their code is must not
// speak against it. Or else each is of the process that had executable memory there. If that leaves a
// choice, the others that were named with it decide, and then samples in the code.

// A j9Class are captures of a group that may be of the same processes.
type j9Class struct {
	group    *j9Group
	captures []*source.J9Capture
	fits     []uint32 // processes that had executable memory where the code is
}

// ownersOfCaptures gives captures to processes. Those for which there is none become problems.
func (f *finder) ownersOfCaptures(ctx context.Context, groups []*j9Group, sum *Summary) (map[*source.J9Capture]uint32, error) {
	owners := make(map[*source.J9Capture]uint32)
	give := func(captures []*source.J9Capture, pid uint32) {
		for _, c := range captures {
			owners[c] = pid
		}
	}
	var open []*j9Class
	for _, g := range groups {
		switch not := f.rec.claimed(g); {
		case g.pid == 0:
			open = append(open, f.rec.classesOf(g)...)
		case not != "":
			f.rec.capturesLeft += len(g.captures)
			sum.problem(g.problem(g.captures, adviceOtherRun, not))
		default:
			give(g.captures, g.pid)
		}
	}
	var several []*j9Class
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
	samples, err := f.samplesIn(ctx, several)
	if err != nil {
		return nil, err
	}
	var left []*j9Class
	choice := make(map[*j9Class][]uint32)
	for _, c := range several {
		if choice[c] = f.rec.chosen(c, open, samples[c]); len(choice[c]) == 1 {
			give(c.captures, choice[c][0])
		} else {
			left = append(left, c)
		}
	}
	for _, c := range left {
		f.rec.capturesLeft += len(c.captures)
		g := c.group
		if len(choice[c]) == 0 {
			text := c.say("no process of the recording had executable memory where its code is; is it of another run?", "no process of the recording had executable memory where their code is; are they of another run?")
			if others := given(g, owners); others != "" {
				text += " " + others
			}
			sum.problem(g.problem(c.captures, g.name(c.captures), text))
			continue
		}
		sum.problem(g.problem(c.captures, g.name(c.captures), c.say("it may be", "they may be")+" of any of the processes "+someProcesses(choice[c])))
	}
	return owners, nil
}

func someProcesses(pids []uint32) string {
	var names []string
	for _, pid := range pids[:min(len(pids), maxReasons)] {
		names = append(names, fmt.Sprint(pid))
	}
	return strings.Join(names, ", ")
}

// given says how many captures of a group have an owner, "" for none.
func given(g *j9Group, owners map[*source.J9Capture]uint32) string {
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

// problem is one of captures of a group, if not all of them.
func (g *j9Group) problem(captures []*source.J9Capture, advice, text string) Problem {
	p := Problem{File: g.path, Offset: -1, Text: text, Advice: advice}
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

// say chooses between words about one capture and about several.
func say(captures []*source.J9Capture, one, several string) string {
	if len(captures) > 1 {
		return several
	}
	return one
}

func (g *j9Group) say(one, several string) string { return say(g.captures, one, several) }
func (c *j9Class) say(one, several string) string { return say(c.captures, one, several) }

// name is the advice to say whose some captures are.
func (g *j9Group) name(captures []*source.J9Capture) string {
	path := g.path
	if len(captures) < len(g.captures) {
		if path = captures[0].Path; len(captures) > 1 {
			return "name the process of each: --j9 PID=" + shellWord(path)
		}
	}
	return "name the process: --j9 PID=" + shellWord(path)
}

// claimed says why captures cannot be of the process that they say, whose the user says
// nothing of; "" if they can.
func (rec *recording) claimed(g *j9Group) string {
	if g.pid == 0 || g.named {
		return ""
	}
	says := g.say("it says that it is", "they say that they are")
	if rec.processes[g.pid] == nil {
		return fmt.Sprintf("%s of process %d, which is not in the recording: %s of another run", says, g.pid, g.say("it is", "they are"))
	}
	if inside, outside := rec.capturesIn(g.pid, g.captures); rec.tellsMemory(g.pid) && inside == 0 && outside > 0 {
		return fmt.Sprintf("%s of process %d, and %s code is not where that one had executable memory: %s of another run", says, g.pid, g.say("its", "their"), g.say("it is", "they are"))
	}
	return ""
}

// tellsMemory reports whether the recording tells of memory in which a process may have made
// code.
func (rec *recording) tellsMemory(pid uint32) bool {
	p := rec.processes[pid]
	return p != nil && len(p.memory) > 0
}

// classesOf divides the captures of a group by the processes that had executable memory where their
// code is. Of these only those are taken that had it for about as many captures of the group as any.
func (rec *recording) classesOf(g *j9Group) (classes []*j9Class) {
	fits := make([][]uint32, len(g.captures))
	count := make(map[uint32]int)
	for _, pid := range rec.pids() {
		if pid == 0 || !rec.tellsMemory(pid) {
			continue
		}
		family := rec.family([]marker{{pid: pid, time: latestTime}})
		for i, c := range g.captures {
			if inMemory(family, c.Addr()) {
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
		n := slices.IndexFunc(classes, func(x *j9Class) bool { return slices.Equal(x.fits, fits[i]) })
		if n < 0 {
			n = len(classes)
			classes = append(classes, &j9Class{group: g, fits: fits[i]})
		}
		classes[n].captures = append(classes[n].captures, c)
	}
	return classes
}

// chosen returns which processes a class of captures may be of: those with samples in the code if
// there are any; and of these, those that most captures of the group may be of.
func (rec *recording) chosen(c *j9Class, all []*j9Class, samples map[uint32]int) (pids []uint32) {
	for _, pid := range rec.pids() {
		if samples[pid] > 0 && (len(c.fits) == 0 && !rec.tellsMemory(pid) || slices.Contains(c.fits, pid)) {
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

func inMemory(family []*process, addr uint64) bool {
	return slices.ContainsFunc(family, func(p *process) bool { return p.memory.hold(addr) || p.files.hold(addr) })
}

// capturesIn counts captures, of at most maxEvidence, that are where a process had executable memory,
// and others.
func (rec *recording) capturesIn(pid uint32, captures []*source.J9Capture) (inside, outside int) {
	family := rec.family([]marker{{pid: pid, time: latestTime}})
	for i := 0; i < len(captures); i += 1 + len(captures)/maxEvidence {
		if inMemory(family, captures[i].Addr()) {
			inside++
		} else {
			outside++
		}
	}
	return inside, outside
}

// samplesIn counts the samples of each process in the code of captures. A stream that can be read only once
// has none to be counted.
func (f *finder) samplesIn(ctx context.Context, classes []*j9Class) (map[*j9Class]map[uint32]int, error) {
	counts := make(map[*j9Class]map[uint32]int)
	for _, c := range classes {
		counts[c] = make(map[uint32]int)
	}
	if f.rec.in.once {
		return counts, nil
	}
	code := make([]ranges, len(classes))
	for i, c := range classes {
		var parts []fileMap
		for _, x := range c.captures {
			x.Parts(func(lo, hi uint64) { parts = append(parts, fileMap{lo: lo, hi: hi}) })
		}
		code[i] = exactRanges(parts, func(*fileMap) bool { return true })
	}
	for block, err := range f.rec.in.walk(ctx, PhaseSamples) {
		if err != nil {
			return nil, err
		}
		for _, r := range block.Records() {
			if r.Type != perfdata.RecordSample || !isUser(r) {
				continue
			}
			pid, ip, _, ok := f.rec.layouts.SamplePlace(r)
			if !ok {
				continue
			}
			for i, c := range classes {
				if code[i].hold(ip) {
					counts[c][pid]++
				}
			}
		}
	}
	return counts, nil
}
