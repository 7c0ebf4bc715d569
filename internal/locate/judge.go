package locate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/jitdump"
)

// A candidate is a file that may be the dump of a reference.
type candidate struct {
	*SideFile
	place      string // where it was found, in words
	recorded   bool   // it, or a shorter copy, was found where it was recorded
	confidence recording.Confidence
	err        error // why it is refuted, or nil
}

// judge adds a find as a candidate of a reference, if its contents allow it. Otherwise it adds a
// refusal. The error is ctx's, or of an option that cannot be followed.
func (f *Finder) judge(ctx context.Context, r *Reference, at *find) error {
	s, err := f.sideFile(r, at)
	if s == nil || err != nil {
		return err
	}
	certain := at.how.isCertain()
	if i := slices.IndexFunc(r.candidates, func(old *candidate) bool { return old.SideFile == s }); i >= 0 {
		if !certain || r.candidates[i].confidence == recording.Certain {
			return nil
		}
		r.candidates = slices.Delete(r.candidates, i, i+1)
	}
	if !certain && !r.numbered(s.Source.PID()) && !f.isOfAncestor(r, s.Source.PID()) {
		r.unusable(s.Path, fmt.Errorf("it says that it is of process %d; was it overwritten by another run?", s.Source.PID()))
		return nil
	}
	if err := f.Scan(ctx, s); err != nil {
		return err
	}
	cand := &candidate{SideFile: s, place: at.place, recorded: s.Path == r.Path, confidence: recording.Certain}
	// Several files may be one dump: it was copied while its process wrote it, or the process did not
	// write the rest of it. The longest one counts, wherever it is.
	place := len(r.candidates)
	shorter := slices.IndexFunc(r.candidates, func(old *candidate) bool {
		return old.confidence != recording.Refuted && isLonger(s, old.SideFile)
	})
	if !certain {
		d := r.dumpOf(s)
		if cand.confidence, cand.err = f.fits(d, s); shorter >= 0 {
			cand.confidence, cand.err = max(cand.confidence, r.candidates[shorter].confidence), nil
		}
		if cand.err != nil {
			r.refusals = append(r.refusals, refusal{f.checked(s.Path, d.PID, cand.err), s})
		}
	}
	if shorter >= 0 {
		place, cand.recorded = shorter, cand.recorded || r.candidates[shorter].recorded
	}
	r.candidates = slices.Insert(r.candidates, place, cand)
	return nil
}

// MayBe reports whether an open file may be the dump of a marker at the file's path, and has functions. It
// takes over file. The error is ctx's.
func (f *Finder) MayBe(ctx context.Context, m recording.Marker, file *sys.File) (bool, error) {
	r := &Reference{Path: m.Path, Markers: []recording.Marker{m}}
	err := f.judge(ctx, r, &find{path: m.Path, file: file})
	return len(r.candidates) == 1 && r.candidates[0].confidence != recording.Refuted && len(r.candidates[0].Source.Scanned().Events) > 0, err
}

// fits returns how sure it is that an open file is the dump d of the recording. The error says what
// refutes it. Times alone hardly do: they may be of another clock. Earlier ones count where neither an address
// nor the file itself tells, and a dump with times that fit takes precedence.
func (f *Finder) fits(d *model.Dump, s *SideFile) (recording.Confidence, error) {
	times, err := clock.Read(d, f.Rec)
	if err == nil {
		err = times.Forbidden(f.Opts.Clock)
	}
	if err != nil {
		return recording.Refuted, err
	}
	refuted := ""
	fits, older := d.Fits(f.Rec), times.IsOlder()
	switch {
	case fits == recording.Refuted:
		refuted = "none of its code is where process %d had executable memory"
	case times.IsLater():
		refuted = "all its times come after the end of process %d"
	case fits == recording.Possible && older && !isMapped(d, s) && !d.IsSampled(f.Rec):
		return recording.Refuted, fmt.Errorf("all its records are older than its mapping in process %d, and no sample is in its functions; was it overwritten by another run?", d.PID)
	case older:
		return recording.Unlikely, nil
	default:
		return fits, nil
	}
	err = fmt.Errorf(refuted+"; was it overwritten by another run?", d.PID)
	return recording.Refuted, report.Advise(err, "if it is the right one nevertheless, name it with %s", report.NamedDump(d.PID))
}

// isMapped reports whether an open file has the inode of a dump's mapping. Numbers of inodes are used
// again, but those of files that were written before the mapping are not.
func isMapped(d *model.Dump, s *SideFile) bool {
	st, ok := s.Info.Sys().(*syscall.Stat_t)
	return ok && slices.ContainsFunc(d.Markers, func(m recording.Marker) bool {
		return m.File.Inode == st.Ino && m.File.Inode != 0 && uint64(m.File.Major) == uint64(unix.Major(st.Dev)) && uint64(m.File.Minor) == uint64(unix.Minor(st.Dev))
	})
}

// compared is how many bytes of two files are compared, at the beginning and before the end of the shorter
// one. A jitdump begins with its process, machine and time, and ends with a record, which has a time, too.
const compared = 4096

// isLonger reports whether a has all that b has, and more. It compares the events, and the bytes at both
// ends of b.
func isLonger(a, b *SideFile) bool {
	size := b.Info.Size()
	all, part := a.Source.Scanned().Events, b.Source.Scanned().Events
	return a.Info.Size() > size && a.Source.PID() == b.Source.PID() && len(all) >= len(part) && slices.Equal(all[:len(part)], part) &&
		sameBytes(a, b, 0, min(size, compared)) && sameBytes(a, b, max(size-compared, 0), min(size, compared))
}

// sameBytes reports whether two files have the same n bytes at an offset.
func sameBytes(a, b *SideFile, off, n int64) bool {
	x, y := make([]byte, n), make([]byte, n)
	_, err := a.File.ReadAt(x, off)
	if err == nil {
		_, err = b.File.ReadAt(y, off)
	}
	return err == nil && bytes.Equal(x, y)
}

// sameContent reports whether one of two files is a copy of the other.
func sameContent(a, b *SideFile) bool {
	return a.Source.PID() == b.Source.PID() && slices.Equal(a.Source.Scanned().Events, b.Source.Scanned().Events)
}

// dumpAdvice adds advice to an error of opening a dump, if there is some.
func dumpAdvice(err error) error {
	switch {
	case errors.Is(err, jitdump.ErrNotJitdump):
		return fmt.Errorf("%w; was it overwritten by a later run?", err)
	case errors.Is(err, syscall.EIO):
		return fmt.Errorf("%w; the disk may be failing", err)
	}
	return err
}
