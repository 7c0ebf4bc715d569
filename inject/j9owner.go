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
// speak against it. Or else the process is the one that had executable memory there, and if that
// leaves a choice, the one with samples in the code.

// ownersOfCaptures gives groups to processes. Those for which there is none become problems.
func (f *finder) ownersOfCaptures(ctx context.Context, groups []*j9Group, sum *Summary) (map[*j9Group]uint32, error) {
	owners := make(map[*j9Group]uint32)
	var open []*j9Group
	fits := make(map[*j9Group][]uint32)
	for _, g := range groups {
		switch not := f.rec.claimed(g); {
		case g.pid == 0:
			fits[g] = f.rec.hostsOf(g)
			open = append(open, g)
		case not != "":
			sum.problem(g.problem(adviceOtherRun, not))
		default:
			owners[g] = g.pid
		}
	}
	var samples map[*j9Group]map[uint32]int
	if slices.ContainsFunc(open, func(g *j9Group) bool { return len(fits[g]) != 1 }) {
		var err error
		if samples, err = f.samplesIn(ctx, open); err != nil {
			return nil, err
		}
	}
	for _, g := range open {
		pids := fits[g]
		if len(pids) != 1 {
			var sampled []uint32
			for _, pid := range f.rec.pids() {
				if samples[g][pid] > 0 && (len(pids) == 0 && !f.rec.tellsMemory(pid) || slices.Contains(pids, pid)) {
					sampled = append(sampled, pid)
				}
			}
			if len(sampled) > 0 {
				pids = sampled
			}
		}
		switch {
		case len(pids) == 1:
			owners[g] = pids[0]
		case len(pids) == 0:
			sum.problem(g.problem(g.name(), g.say("no process of the recording had executable memory where its code is; is it of another run?", "no process of the recording had executable memory where their code is; are they of another run?")))
		default:
			var names []string
			for _, pid := range pids[:min(len(pids), maxReasons)] {
				names = append(names, fmt.Sprint(pid))
			}
			sum.problem(g.problem(g.name(), g.say("it may be", "they may be")+" of any of the processes "+strings.Join(names, ", ")))
		}
	}
	return owners, nil
}

// problem is one of all captures of a group.
func (g *j9Group) problem(advice, text string) Problem {
	if len(g.captures) > 1 {
		text = fmt.Sprintf("%d captures: %s", len(g.captures), text)
	}
	return Problem{File: g.path, Offset: -1, Text: text, Advice: advice}
}

// say chooses between words about one capture and about several.
func (g *j9Group) say(one, several string) string {
	if len(g.captures) > 1 {
		return several
	}
	return one
}

// name is the advice to say whose captures are.
func (g *j9Group) name() string { return "name the process: --j9 PID=" + shellWord(g.path) }

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

// hostsOf returns the processes that had executable memory where captures have code.
func (rec *recording) hostsOf(g *j9Group) (pids []uint32) {
	for _, pid := range rec.pids() {
		if inside, outside := rec.capturesIn(pid, g.captures); pid != 0 && rec.tellsMemory(pid) && inside > 9*outside {
			pids = append(pids, pid)
		}
	}
	return pids
}

// capturesIn counts captures, of at most maxEvidence, that are where a process had executable memory,
// and others.
func (rec *recording) capturesIn(pid uint32, captures []*source.J9Capture) (inside, outside int) {
	family := rec.family([]marker{{pid: pid, time: latestTime}})
	for i := 0; i < len(captures); i += 1 + len(captures)/maxEvidence {
		addr := captures[i].Addr()
		if slices.ContainsFunc(family, func(p *process) bool { return p.memory.hold(addr) || p.files.hold(addr) }) {
			inside++
		} else {
			outside++
		}
	}
	return inside, outside
}

// samplesIn counts the samples of each process in the code of groups. A stream that can be read only once
// has none to be counted.
func (f *finder) samplesIn(ctx context.Context, groups []*j9Group) (map[*j9Group]map[uint32]int, error) {
	counts := make(map[*j9Group]map[uint32]int)
	for _, g := range groups {
		counts[g] = make(map[uint32]int)
	}
	if f.rec.in.once {
		return counts, nil
	}
	code := make([]ranges, len(groups))
	for i, g := range groups {
		var parts []fileMap
		for _, c := range g.captures {
			c.Parts(func(lo, hi uint64) { parts = append(parts, fileMap{lo: lo, hi: hi}) })
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
			for i, g := range groups {
				if code[i].hold(ip) {
					counts[g][pid]++
				}
			}
		}
	}
	return counts, nil
}
