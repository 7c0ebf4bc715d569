package inject

import (
	"fmt"
	"slices"
)

// settle decides whose dump each file is. Files are given away in the order of how
// sure it is; of several that fit a claim equally well, it gets the one that was
// found in the best place. A file that several claims reach for with equal right
// is nobody's, unless they are about one dump.
func (f *finder) settle(claims []*claim) {
	for _, level := range []confidence{certain, confirmed, possible} {
		for {
			var s *sideFile
			var wishers []*claim
			for _, c := range claims {
				if c.dump != nil || c.gone {
					continue
				}
				if cand := c.best(level); cand != nil && (s == nil || cand.sideFile == s) {
					s = cand.sideFile
					wishers = append(wishers, c)
				}
			}
			if s == nil {
				break
			}
			f.give(s, wishers, claims)
		}
	}
}

// give decides whose of the wishers' dumps a file is.
func (f *finder) give(s *sideFile, wishers, claims []*claim) {
	s.settled = true
	owner := wishers[0]
	for _, c := range wishers[1:] {
		mine, theirs := owner.candidate(s), c.candidate(s)
		switch {
		case mine.confidence == certain || f.rec.sameFile(&owner.markers[0], &c.markers[0]) || owner.has(c.markers[0].pid):
		case mine.recorded && !theirs.recorded:
		case theirs.recorded && !mine.recorded:
			owner = c
		default:
			text := fmt.Sprintf("it was found in the place of %s of process %d and of %s of process %d, and can only be one of them",
				Printable(owner.path), owner.markers[0].pid, Printable(c.path), c.markers[0].pid)
			for _, w := range wishers {
				w.gone = true
				w.refusals = []refusal{{Problem{File: s.path, Offset: -1, Text: text, Advice: "put the dumps back to where they were recorded, or name one of them with --dump PID=FILE"}, nil}}
			}
			return
		}
	}
	chosen := owner.candidate(s)
	for _, c := range claims {
		if c == owner || c.dump != nil || c.gone || c.candidate(s) == nil {
			continue
		}
		// Mapped by a second process, of which the recording does not tell how it
		// is related to the first. Its own functions carry its pid.
		if f.rec.sameFile(&owner.markers[0], &c.markers[0]) || owner.has(c.markers[0].pid) || chosen.confidence == certain && c.candidate(s).confidence == certain {
			owner.markers = append(owner.markers, c.markers...)
			c.gone, c.refusals = true, nil
			continue
		}
	}
	s.taken = true
	owner.dump = owner.dumpOf(s)
	owner.dump.note = owner.note(chosen)
}

// note says why a file was taken, where another might have been.
func (c *claim) note(chosen *candidate) string {
	better, other := "", ""
	for _, cand := range c.candidates {
		switch {
		case cand == chosen || sameContent(cand, chosen):
		case cand.err != nil && cand.recorded:
			return fmt.Sprintf("it is %s; the one that is where it was recorded, %s, is not it: %v", chosen.place, Printable(cand.path), cand.err)
		case cand.settled || cand.confidence == refuted || other != "":
		default:
			other = Printable(cand.path)
			switch {
			case chosen.confidence == confirmed && cand.confidence == possible:
				better = "its code lies in the process's memory"
			default:
				better = "it is " + chosen.place
			}
		}
	}
	if other != "" {
		return fmt.Sprintf("taken because %s; %s would do as well", better, other)
	}
	switch {
	case chosen.live && inOtherMounts(c.markers[0].pid):
		return "found in the running container, where perf will look for the objects until it has ended: wait for that, or start perf with unshare -pf --mount-proc perf"
	case chosen.live:
		return "found in the running process"
	}
	return ""
}

// sameContent reports whether one of two candidates is a copy of the other.
func sameContent(a, b *candidate) bool {
	return a.source.PID() == b.source.PID() && slices.Equal(a.source.Scanned().Events, b.source.Scanned().Events)
}
