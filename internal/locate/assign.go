package locate

import (
	"context"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// assign judges the files that are found for references, and sets the dump of each reference. Files are
// assigned in order of decreasing confidence. Of several files with equal confidence, a reference gets the
// one from the best place. A file that several references could have with equal right goes to none of
// them, unless they are about one dump. The error is ctx's, or of options that cannot be followed.
func (f *Finder) assign(ctx context.Context, references []*Reference) error {
	wanted := make(map[*SideFile][]*Reference) // by the files that they may have, in order
	for _, r := range references {
		if err := ctx.Err(); err != nil {
			return err
		}
		finds := f.Search(r)
		for i := range finds {
			if err := f.judge(ctx, r, &finds[i]); err != nil {
				closeAll(finds[i+1:])
				return err
			}
		}
		for _, cand := range r.candidates {
			wanted[cand.SideFile] = append(wanted[cand.SideFile], r)
		}
	}
	for _, level := range []recording.Confidence{recording.Certain, recording.Confirmed, recording.Possible, recording.Unlikely} {
		for _, r := range references {
			// Others may take files from it, and leave it the next best one.
			for cand := r.wants(level); cand != nil; cand = r.wants(level) {
				f.give(cand.SideFile, level, wanted[cand.SideFile])
			}
		}
	}
	return nil
}

// closeAll closes files that have not been judged.
func closeAll(finds []find) {
	for _, at := range finds {
		if at.file != nil {
			at.file.Close()
		}
	}
}

// wants returns the best candidate of a level for a reference without a dump that is not assigned yet, or
// nil.
func (r *Reference) wants(level recording.Confidence) *candidate {
	if r.Dump != nil || r.gone {
		return nil
	}
	for _, cand := range r.candidates {
		if cand.confidence == level && !cand.assigned {
			return cand
		}
	}
	return nil
}

// give sets the dump of that one of the references which gets a file. They are all that may
// have it. Those that want it first are its wishers. If it is ambiguous which of them gets it, all
// of them are refused.
func (f *Finder) give(s *SideFile, level recording.Confidence, references []*Reference) {
	var wishers []*Reference
	for _, r := range references {
		if cand := r.wants(level); cand != nil && cand.SideFile == s {
			wishers = append(wishers, r)
		}
	}
	s.assigned = true
	owner := wishers[0]
	pids := owner.pids()
	isSame := func(r *Reference) bool {
		return sameFile(f.Rec, &owner.Markers[0], &r.Markers[0]) || pids[r.Markers[0].PID]
	}
	for _, r := range wishers[1:] {
		mine, theirs := owner.candidate(s), r.candidate(s)
		switch {
		case mine.confidence == recording.Certain || isSame(r):
		case mine.recorded && !theirs.recorded:
		case theirs.recorded && !mine.recorded:
			owner, pids = r, r.pids()
		default:
			text := fmt.Sprintf("it was found in place of %s of process %d and %s of process %d, and belongs to only one of them",
				quote.Printable(owner.Path), owner.Markers[0].PID, quote.Printable(r.Path), r.Markers[0].PID)
			for _, w := range wishers {
				w.gone = true
				w.refusals = []refusal{{report.Problem{Code: report.ProblemNoDump, File: s.Path, Offset: -1, Text: text, Advice: "put the dumps back where they were recorded, or name one of them with " + report.MentionedFile(config.AnyDump, "PID", "FILE")}, nil}}
			}
			return
		}
	}
	chosen := owner.candidate(s)
	for _, r := range references {
		if r == owner || r.Dump != nil || r.gone || r.candidate(s) == nil {
			continue
		}
		theirs := r.candidate(s).confidence
		// A process that maps another dump later has been given that one.
		if theirs == recording.Unlikely && slices.ContainsFunc(r.candidates, func(o *candidate) bool { return o.confidence > recording.Unlikely }) {
			continue
		}
		// A second process mapped it, and its relation to the first is unknown. Its own
		// functions carry its pid.
		if isSame(r) || chosen.confidence == recording.Certain && theirs == recording.Certain {
			owner.Markers = append(owner.Markers, r.Markers...)
			for _, m := range r.Markers {
				pids[m.PID] = true
			}
			r.gone, r.refusals = true, nil
		}
	}
	s.Taken = true
	owner.Dump = owner.dumpOf(s)
	owner.Dump.Note = owner.note(chosen)
	if known := owner.Markers[0].Known; known != "" && owner.Dump.Note != "" {
		owner.Dump.Note = known + "; " + owner.Dump.Note
	} else if known != "" {
		owner.Dump.Note = known
	}
}

// note returns why a file was chosen where there were others, or "".
func (r *Reference) note(chosen *candidate) string {
	better, other := "", ""
	for _, cand := range r.candidates {
		switch {
		case cand == chosen || sameContent(cand.SideFile, chosen.SideFile):
		case cand.err != nil && cand.recorded:
			return fmt.Sprintf("it is %s; the file at the recorded path, %s, does not fit: %v", chosen.place, quote.Printable(cand.Path), cand.err)
		case cand.assigned || cand.confidence == recording.Refuted || other != "":
		default:
			other = quote.Printable(cand.Path)
			switch {
			case isLonger(chosen.SideFile, cand.SideFile):
				return fmt.Sprintf("chosen because it has more of the dump than %s", other)
			case chosen.confidence == recording.Confirmed && cand.confidence < recording.Confirmed:
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
