package locate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/source"
)

// The process of a file that no mapping describes is in its name only, or nowhere. Another process may have
// had that number, in another run or in a container. A file cannot be of a process that began after the last
// write to it, or that has none of its functions in executable memory.

// IsForeign returns the reason why a file that was found by its name cannot be of a process, or nil. naming
// is the option that names it.
func IsForeign(rec *recording.Recording, pid uint32, naming string, info fs.FileInfo) error {
	if !safefile.OwnedByUserOrRoot(info) && os.Geteuid() != 0 { // root records the processes of all users
		return report.Advise(errors.New("it belongs to another user, so its names cannot be trusted"), "if it is right, name it with %s, or run jitinject as root", naming)
	}
	began, ok := beganAt(rec, pid)
	written := info.ModTime()
	if ok && written.Year() > 1970 && written.Add(tolerance).Before(began) {
		err := fmt.Errorf("it was written last at %s, and process %d began at %s: it is of another run", written.Format(time.DateTime), pid, began.Format(time.DateTime))
		return report.Advise(err, "if it is the right one nevertheless, name it with %s", naming)
	}
	return nil
}

// tolerance is the difference between clocks of file systems and of recordings that proves nothing.
const tolerance = 2 * time.Second

// beganAt returns when the last program of a process began. ok is false if the recording does not
// show that, or does not know the time of day.
func beganAt(rec *recording.Recording, pid uint32) (began time.Time, ok bool) {
	tree, c := &rec.ProcessTree, rec.ClockData
	start := max(tree.LastExec(pid, recording.LatestTime), tree.Born(pid, recording.LatestTime))
	if c == nil || start == 0 {
		return began, false
	}
	if id, known := rec.Clock(); !known || uint32(id) != c.ID {
		return began, false
	}
	return time.Unix(0, int64(c.Wall+start-c.Clock)), true
}

// IsElsewhere returns the reason why a dump cannot be of a process, by the addresses of its functions,
// or nil. Many functions may be elsewhere: V8 lists bytecode, and code of its program.
func IsElsewhere(rec *recording.Recording, pid uint32, d source.Dump) error {
	if len(d.Scanned().Events) == 0 {
		return errors.New("it has no functions")
	}
	marker := recording.Marker{PID: pid, Time: rec.ProgramStart(pid, 0)}
	if !rec.KnowsMemory(marker) || holdsAny(memoryOf(rec, marker), d) {
		return nil
	}
	return fmt.Errorf("none of its functions lies where process %d had executable memory: it is of another run", pid)
}

// memoryOf returns the executable memory of a process and of those related to it, without files.
func memoryOf(rec *recording.Recording, marker recording.Marker) recording.Ranges {
	related := rec.Related([]recording.Marker{marker})
	maps, all := recording.MapsOf(related)
	if !all {
		return recording.MemoryOf(related)
	}
	return recording.ExactRanges(maps, func(m *recording.FileMap) bool { return m.Name == "" })
}

// holdsAny reports whether any function of a dump begins in memory.
func holdsAny(memory recording.Ranges, d source.Dump) bool {
	return slices.ContainsFunc(d.Scanned().Events, func(e jitcode.Event) bool { return memory.Hold(e.Addr) })
}

// OwnerOf returns the process of a dump that names none: the only one with executable memory where
// its functions are. Processes that were forked from it count as it.
func OwnerOf(rec *recording.Recording, path string, d source.Dump) (uint32, error) {
	var owners []uint32
	for _, pid := range rec.PIDs() {
		if pid != 0 && len(rec.Processes[pid].Memory) > 0 && holdsAny(recording.MemoryOf([]*recording.Process{rec.Processes[pid]}), d) {
			owners = append(owners, pid)
		}
	}
	all := slices.Clone(owners)
	owners = slices.DeleteFunc(owners, func(pid uint32) bool {
		return slices.ContainsFunc(all, func(from uint32) bool {
			return from != pid && rec.ProcessTree.Descends(pid, recording.LatestTime, from)
		})
	})
	switch {
	case len(owners) == 1:
		return owners[0], nil
	case len(owners) > 1:
		var names []string
		for _, pid := range owners[:min(len(owners), recording.MaxReasons)] {
			names = append(names, fmt.Sprint(pid))
		}
		err := fmt.Errorf("it may be of any of the processes %s", strings.Join(names, ", "))
		return 0, report.Advise(err, "name its process: %s", report.MentionedSideFile(d.Traits().Kind, "PID", path))
	}
	return 0, errors.New("no process of the recording had executable memory where its functions are: it is of another run")
}

// IsMissed reports whether functions that the dumps of a process do not describe matter: a dump was cut, or
// samples are in these functions, as far as samples were counted.
func IsMissed(rec *recording.Recording, pid uint32, left source.Dump, dumps []source.Dump) bool {
	d := &model.Dump{Markers: []recording.Marker{{PID: pid}}, Source: left}
	return isCut(dumps) || rec.Histogram == nil || rec.Histogram.Over || d.IsSampled(rec)
}

// isCut reports whether one of several dumps was cut.
func isCut(dumps []source.Dump) bool {
	return slices.ContainsFunc(dumps, func(d source.Dump) bool { return d.Scanned().Cut >= 0 })
}

// MayLack reports whether dumps of a process may leave out functions that matter: one was cut, or samples are
// in executable memory of the process that none of them describes.
func MayLack(rec *recording.Recording, pid uint32, dumps []source.Dump) bool {
	if isCut(dumps) || rec.Histogram == nil || rec.Histogram.Over {
		return true
	}
	var events []jitcode.Event
	for _, d := range dumps {
		events = append(events, d.Scanned().Events...)
	}
	described, _ := Covered(events)
	memory := memoryOf(rec, recording.Marker{PID: pid, Time: rec.ProgramStart(pid, 0)})
	for _, s := range rec.Histogram.Of(pid) {
		i := sort.Search(len(described), func(i int) bool { return described[i].Hi > s.IP })
		if memory.Hold(s.IP) && (i == len(described) || described[i].Lo > s.IP) {
			return true
		}
	}
	return false
}

// Covered returns the addresses of events, in order and disjoint, and where their functions begin.
func Covered(events []jitcode.Event) (taken []addrs.Range, starts map[uint64]bool) {
	starts = make(map[uint64]bool, len(events))
	for _, e := range events {
		if e.Size > 0 {
			starts[e.Addr] = true
			taken = append(taken, addrs.Range{Lo: e.Addr, Hi: e.Addr + e.Size})
		}
	}
	slices.SortFunc(taken, func(a, b addrs.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	n := 0
	for _, r := range taken {
		if n > 0 && r.Lo <= taken[n-1].Hi {
			taken[n-1].Hi = max(taken[n-1].Hi, r.Hi)
			continue
		}
		taken[n] = r
		n++
	}
	return taken[:n], starts
}
