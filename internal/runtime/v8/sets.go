package v8

import (
	"io/fs"
	"syscall"

	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A setKey identifies a dumpSet.
type setKey struct {
	named bool
	pid   uint32 // 0: any
	uid   uint32 // owner of the log, if that was not named
}

// A dumpSet is dumps that a log may be of.
type dumpSet struct {
	targets []*target
	wanted  map[place]int       // number of loads
	at      map[place][]*target // those with loads at a place, maxSharing at most; nil for one target
}

// maxSharing bounds the dumps that have code of a size at an address, to which a log is compared.
// Addresses are random, unless that is switched off.
const maxSharing = 16

// set returns the dumpSet for a key. If there is none yet, it has those of the targets that a log may
// be used for, by its info.
func (a *attacher) set(key setKey, of []*target, info fs.FileInfo) *dumpSet {
	if s := a.sets[key]; s != nil {
		return s
	}
	s := new(dumpSet)
	a.sets[key] = s
	for _, t := range of {
		if key.named || isOwnersOf(info, t.dump.File) {
			a.prepare(t)
			s.targets = append(s.targets, t)
		}
	}
	if len(s.targets) == 1 {
		s.wanted = s.targets[0].wanted
		return s
	}
	s.wanted, s.at = make(map[place]int), make(map[place][]*target)
	for _, t := range s.targets {
		for at, n := range t.wanted {
			s.wanted[at] += n
			if len(s.at[at]) < maxSharing {
				s.at[at] = append(s.at[at], t)
			}
		}
	}
	return s
}

// maxTried bounds the dumps that a log is paired with, to find the right one.
const maxTried = 8

// likely returns the dumps of the set that a log may be of: those with the most of its places first.
func (s *dumpSet) likely(x *index) []*target {
	if len(s.targets) == 1 {
		return s.targets
	}
	hits := make(map[*target]int)
	for i := range x.objects {
		for _, t := range s.at[place{x.objects[i].addr, x.objects[i].size}] {
			hits[t]++
		}
	}
	var list []*target
	for _, t := range s.targets {
		if hits[t] > 0 {
			list = append(list, t)
		}
	}
	sorting.Stable(list, func(a, b *target) int { return hits[b] - hits[a] })
	if len(list) == 0 {
		list = s.targets[:1] // its refusal says that nothing fits
	}
	return list[:min(len(list), maxTried)]
}

// isOwnersOf reports whether a file may be used without being named: its owner is that of the dump,
// the user or root. Anyone can put a file into /tmp.
func isOwnersOf(info fs.FileInfo, dump *sys.File) bool {
	if safefile.OwnedByUserOrRoot(info) {
		return true
	}
	d, err := dump.Stat()
	return err == nil && uidOf(info) == uidOf(d)
}

// uidOf returns the owner of a file. info is from a Stat of this system.
func uidOf(info fs.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }
