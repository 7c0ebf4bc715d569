package v8

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// The name of a log has its process, or else the addresses of its code decide. Without address space randomization, code of other
// processes may lie at the same addresses. So such a log is used only if it fits one process and no other, and
// describes nearly all samples in that one's memory for code.

// adviceName is the advice for a log that may be of several processes, with the number of one.
const adviceName = "if you know its process, rename it to isolate-0-%s-v8.log"

// maxOwners bounds the processes that one log is compared with.
const maxOwners = 16

// ownerOf returns the process of a log that does not name one.
func (s *logSearch) ownerOf(one *foundLog, named bool) (uint32, error) {
	l := &one.log.code
	var hits []uint32
	for _, pid := range s.Rec.PIDs() {
		if s.Rec.HasMemory(pid) && l.IsIn(recording.MemoryOf([]*recording.Process{s.Rec.Processes[pid]})) {
			hits = append(hits, pid)
		}
	}
	if len(hits) > maxOwners {
		return 0, fmt.Errorf("%d processes had executable memory where its code is", len(hits))
	}
	var owners []uint32
	reason := errNoProcess
	for _, pid := range hits {
		f := s.life(pid)
		err := cmp.Or(s.checkTimes(one, pid), f.Fits(l))
		if err == nil && f.Excludes(l, one.written) {
			err = errTimes(pid)
		}
		if err != nil {
			reason = err
			continue
		}
		owners = append(owners, pid)
	}
	switch {
	case len(owners) == 0:
		return 0, reason
	case len(owners) > 1:
		err := fmt.Errorf("it may be of any of the processes %v", owners)
		return 0, report.Advise(err, adviceName, "PID")
	case s.Rec.SharesCode(owners[0]):
		err := fmt.Errorf("it may be of process %d, or of one that shares its code since a fork", owners[0])
		return 0, report.Advise(err, adviceName, "PID")
	case !s.life(owners[0]).Distinguishes():
		err := fmt.Errorf("its code lies where process %d has code, but without randomized addresses, so may that of other runs", owners[0])
		return 0, report.Advise(err, adviceName, fmt.Sprint(owners[0]))
	case !named && !s.life(owners[0]).IsDescribed(l):
		return 0, errors.New("many samples are in code that it does not have")
	}
	return owners[0], s.checkTimes(one, owners[0])
}
