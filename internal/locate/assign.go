package locate

import (
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// Assign sets the dump of each reference. Files are assigned in order of decreasing confidence.
// Of several files with equal confidence, a reference gets the one from the best place. A file
// that several references could have with equal right goes to none of them, unless they are about
// one dump.
func (f *Finder) Assign(references []*Reference) {
	wanted := make(map[*SideFile][]*Reference) // by the files that they may have, in order
	for _, c := range references {
		for _, cand := range c.Candidates {
			if of := wanted[cand.SideFile]; len(of) == 0 || of[len(of)-1] != c {
				wanted[cand.SideFile] = append(of, c)
			}
		}
	}
	for _, level := range []recording.Confidence{recording.Certain, recording.Confirmed, recording.Possible, recording.Unlikely} {
		for _, c := range references {
			// Others may take files from it, and leave it the next best one.
			for cand := c.wants(level); cand != nil; cand = c.wants(level) {
				f.assignTo(cand.SideFile, level, wanted[cand.SideFile])
			}
		}
	}
}

// wants returns the candidate of a level that a reference without a dump would get first, or nil.
func (r *Reference) wants(level recording.Confidence) *candidate {
	if r.Dump != nil || r.gone {
		return nil
	}
	return r.best(level)
}

// assignTo sets the dump of that one of the references which gets a file. They are all that may
// have it. Those that want it first are its wishers. If it is ambiguous which of them gets it, all
// of them are refused.
func (f *Finder) assignTo(s *SideFile, level recording.Confidence, references []*Reference) {
	var wishers []*Reference
	for _, c := range references {
		if cand := c.wants(level); cand != nil && cand.SideFile == s {
			wishers = append(wishers, c)
		}
	}
	s.assigned = true
	owner := wishers[0]
	pids := owner.pids()
	for _, c := range wishers[1:] {
		mine, theirs := owner.candidate(s), c.candidate(s)
		switch {
		case mine.Confidence == recording.Certain || sameFile(f.Rec, &owner.Markers[0], &c.Markers[0]) || pids[c.Markers[0].PID]:
		case mine.recorded && !theirs.recorded:
		case theirs.recorded && !mine.recorded:
			owner, pids = c, c.pids()
		default:
			text := fmt.Sprintf("it was found in place of %s of process %d and %s of process %d, and belongs to only one of them",
				quote.Printable(owner.Path), owner.Markers[0].PID, quote.Printable(c.Path), c.Markers[0].PID)
			for _, w := range wishers {
				w.gone = true
				w.refusals = []refusal{{report.Problem{Code: report.ProblemNoDump, File: s.Path, Offset: -1, Text: text, Advice: "put the dumps back where they were recorded, or name one of them with " + report.MentionedFile(config.AnyDump, "PID", "FILE")}, nil}}
			}
			return
		}
	}
	chosen := owner.candidate(s)
	for _, c := range references {
		if c == owner || c.Dump != nil || c.gone || c.candidate(s) == nil {
			continue
		}
		// A process that maps another dump later has been given that one.
		if c.candidate(s).Confidence == recording.Unlikely && slices.ContainsFunc(c.Candidates, func(o *candidate) bool { return o.Confidence > recording.Unlikely }) {
			continue
		}
		// A second process mapped it, and its relation to the first is unknown. Its own
		// functions carry its pid.
		if sameFile(f.Rec, &owner.Markers[0], &c.Markers[0]) || pids[c.Markers[0].PID] || chosen.Confidence == recording.Certain && c.candidate(s).Confidence == recording.Certain {
			owner.Markers = append(owner.Markers, c.Markers...)
			for _, m := range c.Markers {
				pids[m.PID] = true
			}
			c.gone, c.refusals = true, nil
		}
	}
	s.Taken = true
	owner.Dump = owner.dumpOf(s)
	owner.Dump.Note = owner.note(chosen)
}

// note returns why a file was chosen where there were others, or "".
func (r *Reference) note(chosen *candidate) string {
	better, other := "", ""
	for _, cand := range r.Candidates {
		switch {
		case cand == chosen || sameContent(cand, chosen):
		case cand.err != nil && cand.recorded:
			return fmt.Sprintf("it is %s; the file at the recorded path, %s, does not fit: %v", chosen.place, quote.Printable(cand.Path), cand.err)
		case cand.assigned || cand.Confidence == recording.Refuted || other != "":
		default:
			other = quote.Printable(cand.Path)
			switch {
			case isLonger(chosen, cand):
				return fmt.Sprintf("chosen because it has more of the dump than %s", other)
			case chosen.Confidence == recording.Confirmed && cand.Confidence < recording.Confirmed:
				better = "its code lies in the process's memory"
			default:
				better = "it is " + chosen.place
			}
		}
	}
	if other != "" {
		return fmt.Sprintf("chosen because %s; %s also fits", better, other)
	}
	if !chosen.live {
		return ""
	}
	if other, _ := inOtherMounts(r.Markers[0].PID); other {
		return "found in the running container; perf searches it for the objects while it runs: start perf later, or as unshare -pf --mount-proc perf"
	}
	return "found in the running process"
}

// sameContent reports whether one of two candidates is a copy of the other.
func sameContent(a, b *candidate) bool {
	return a.Source.PID() == b.Source.PID() && slices.Equal(a.Source.Scanned().Events, b.Source.Scanned().Events)
}
