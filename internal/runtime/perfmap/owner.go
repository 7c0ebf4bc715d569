package perfmap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
)

// The process of a map is in its name only. Another process may have had that pid, in another run
// or in a container. A map cannot be of a process that began after the last write to it, or that has
// none of its functions in executable memory.

// tmpName returns the path of a process's map. The pid is that of its own pid namespace.
func tmpName(pid uint32) string { return fmt.Sprintf("/tmp/perf-%d.map", pid) }

// pidOf returns the process in the name of a map, or 0.
func pidOf(path string) uint32 {
	rest, isMap := strings.CutSuffix(filepath.Base(path), ".map")
	digits, isPerf := strings.CutPrefix(rest, "perf-")
	pid, err := strconv.ParseUint(digits, 10, 32)
	if !isMap || !isPerf || err != nil {
		return 0
	}
	return uint32(pid)
}

// isForeign returns the reason why a file that was found cannot be the map of a process, or nil.
func isForeign(rec *recording.Recording, pid uint32, path string, info fs.FileInfo) error {
	if !safefile.OwnedByUserOrRoot(info) && os.Geteuid() != 0 { // root records the processes of all users
		return report.Advise(errors.New("it belongs to another user, so its names cannot be trusted"), "if it is right, name it with %s, or run jitinject as root", naming(pid, path))
	}
	if info.Size() == 0 {
		return errEmpty
	}
	began, ok := beganAt(rec, pid)
	written := info.ModTime()
	if ok && written.Year() > 1970 && written.Add(tolerance).Before(began) {
		err := fmt.Errorf("it was written last at %s, and process %d began at %s: it is of another run", written.Format(time.DateTime), pid, began.Format(time.DateTime))
		return report.Advise(err, "if it is the right one nevertheless, name it with %s", naming(pid, path))
	}
	return nil
}

// errEmpty says that a map has no content: its runtime has not written it, or the disk is full.
var errEmpty = report.Advise(errors.New("it is empty"), adviceWrite)

// adviceWrite is the advice for a file that is no map.
const adviceWrite = "have the runtime write the map again"

// naming returns a map with its process as messages mention it.
func naming(pid uint32, path string) string {
	return report.MentionedSideFile(Kind, fmt.Sprint(pid), path)
}

// tolerance is the difference between clocks of file systems and of recordings that proves nothing.
const tolerance = 2 * time.Second

// beganAt returns when the last program of a process began. ok is false if the recording does not
// show that, or does not know the time of day.
func beganAt(rec *recording.Recording, pid uint32) (began time.Time, ok bool) {
	start := rec.ProcessTree.Program(pid, recording.LatestTime).Since
	began, ok = rec.TimeOfDay(start)
	return began, ok && start > 0
}

// isElsewhere returns the reason why a map cannot be of a process, by the addresses of its functions,
// or nil. Many functions may be elsewhere: V8 lists bytecode, and code of its program.
func isElsewhere(rec *recording.Recording, pid uint32, m *Map) error {
	if len(m.Events) == 0 {
		return errors.New("it has no functions")
	}
	marker := recording.Marker{PID: pid, Time: rec.ProgramStart(pid, 0)}
	if !rec.KnowsMemory(marker) || holdsAny(memoryOf(rec, marker), m) {
		return nil
	}
	return fmt.Errorf("none of its functions lies where process %d had executable memory: it is of another run", pid)
}

// memoryOf returns the executable memory of a process and of those related to it, without files.
func memoryOf(rec *recording.Recording, marker recording.Marker) recording.Ranges {
	maps, all := rec.MapsOf([]recording.Marker{marker})
	if !all {
		return rec.RelatedMemory([]recording.Marker{marker}).Memory
	}
	return recording.ExactRanges(maps, func(m *recording.FileMap) bool { return m.Name == "" })
}

// holdsAny reports whether any function of a map begins in memory.
func holdsAny(memory recording.Ranges, m *Map) bool { return model.CountIn(m.Scanned(), memory) > 0 }

// ownerOf returns the process of a map that names none: the only one with executable memory where
// its functions are. Processes that were forked from it count as it.
func ownerOf(rec *recording.Recording, path string, m *Map) (uint32, error) {
	var owners []uint32
	for _, pid := range rec.PIDs() {
		if rec.HasMemory(pid) && holdsAny(recording.MemoryOf([]*recording.Process{rec.Processes[pid]}), m) {
			owners = append(owners, pid)
		}
	}
	all := slices.Clone(owners)
	ancestry := recording.Ancestry{Tree: &rec.ProcessTree, Has: func(pid uint32, _ uint64) bool {
		_, found := slices.BinarySearch(all, pid)
		return found
	}}
	owners = slices.DeleteFunc(owners, func(pid uint32) bool {
		from, ok := ancestry.Nearest(pid, recording.LatestTime)
		return ok && from != pid
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
		return 0, report.Advise(err, "name its process: %s", report.MentionedSideFile(Kind, "PID", path))
	}
	return 0, errors.New("no process of the recording had executable memory where its functions are: it is of another run")
}

// mark makes a marker for the process of a map. From the start of its program on, anonymous memory counts as
// JIT code. known says what the map was known by, if not by its name.
func mark(f *locate.Finder, pid uint32, s *locate.SideFile, m *Map, says, known string) {
	m.SetPID(pid)
	f.Mark(recording.Marker{PID: pid, Number: pid, Time: f.Rec.MarkerTime(pid), Path: s.Path, Pos: -1, Place: says, Known: known}, s)
}
