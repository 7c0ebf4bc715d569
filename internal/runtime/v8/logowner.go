package v8

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// The process of a log is in its name, or only its code tells. Without address space randomization, code of other
// processes may lie at the same addresses. So such a log is used only if it fits one process and no other, and
// describes nearly all samples in that one's memory for code.

// adviceName is the advice for a log that may be of several processes, with the number of one.
const adviceName = "if you know its process, rename it to isolate-0-%s-v8.log"

// maxOwners bounds the processes that one log is compared with.
const maxOwners = 16

// ownerOf returns the process of a log that does not name one.
func (s *logSearch) ownerOf(one *foundLog, named bool) (uint32, error) {
	if s.spaces == nil {
		s.spaces = spacesOf(s.Rec)
	}
	hits := make(map[uint32]int)
	l := &one.log.code
	for i := 0; i < len(l.Stays); i += 1 + len(l.Stays)/recording.MaxProbes {
		if !l.Codes[l.Stays[i].Code].Bytecode {
			s.spaces.at(l.Stays[i].Addr, func(pid uint32) { hits[pid]++ })
		}
	}
	if len(hits) > maxOwners {
		return 0, fmt.Errorf("%d processes had executable memory where its code is", len(hits))
	}
	var owners []uint32
	reason := errNoProcess
	for pid := range hits {
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
	slices.Sort(owners)
	switch {
	case len(owners) == 0:
		return 0, reason
	case len(owners) > 1:
		err := fmt.Errorf("it may be of any of the processes %v", owners)
		return 0, report.Advise(err, adviceName, "PID")
	case !isAlone(s.Rec, owners[0]):
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

// isAlone reports whether a process shares no code with a parent or a child.
func isAlone(rec *recording.Recording, pid uint32) bool {
	tree := &rec.ProcessTree
	for _, b := range tree.ForksOf(pid) {
		if !tree.HasExec(pid) && (b.Clones || hasMemory(rec, b.Parent)) {
			return false
		}
	}
	for _, b := range tree.ForksBy(pid) {
		if !tree.HasExec(b.PID) && (b.Clones || hasMemory(rec, b.PID)) {
			return false
		}
	}
	return true
}

// spaces find the processes that have memory for code at an address.
type spaces struct {
	maps []space // by address
	high []uint64
}

type space struct {
	lo, hi uint64
	pid    uint32
}

func spacesOf(rec *recording.Recording) *spaces {
	s := new(spaces)
	for _, pid := range rec.PIDs() {
		if hasMemory(rec, pid) {
			for _, r := range rec.Processes[pid].Memory {
				s.maps = append(s.maps, space{r.Lo, r.Hi, pid})
			}
		}
	}
	slices.SortFunc(s.maps, func(a, b space) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.pid, b.pid)) })
	high := uint64(0)
	for _, m := range s.maps {
		high = max(high, m.hi)
		s.high = append(s.high, high)
	}
	return s
}

// at calls f for each process that has memory at an address.
func (s *spaces) at(addr uint64, f func(pid uint32)) {
	i, _ := slices.BinarySearchFunc(s.maps, addr+1, func(m space, addr uint64) int { return cmp.Compare(m.lo, addr) })
	for i--; i >= 0 && s.high[i] > addr; i-- {
		if s.maps[i].hi > addr {
			f(s.maps[i].pid)
		}
	}
}
