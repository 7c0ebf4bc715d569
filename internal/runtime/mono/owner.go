package mono

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// The process of a log. The header has a pid in the process's own namespace, or 0 in logs of Mono
// of 2010. The addresses of methods are more reliable: they lie in memory of the process. This
// includes images compiled before, which have other addresses in every process.

// An owner is a possible process of a log.
type owner struct {
	pid    uint32
	begins bool // the log begins when one of this program would
}

// beginning is the maximum time between loading the profiler and the start of its log.
const beginning = uint64(time.Second)

// maxElsewhere bounds how many logs that were found are compared with all processes: those of another process
// than their header says.
const maxElsewhere = 100

// ownerOf returns the process of a log. The error gives the reason if none fits, or several do. left, if not nil, is
// how many more logs may be compared with all processes.
func ownerOf(rec *recording.Recording, log *Log, left *int) (uint32, error) {
	if len(log.Events) == 0 {
		if p := rec.Processes[log.PID()]; p != nil && !apart(rec, log.PID(), log.Header().StartupTime, log.Header().StartupTime) {
			return log.PID(), nil
		}
		return 0, errors.New("it does not name its process")
	}
	if _, ok := mayOwn(rec, log.PID(), log); ok {
		return log.PID(), nil
	}
	if left != nil {
		if *left--; *left < 0 {
			return 0, fmt.Errorf("it says that it is of process %d, and its code is not there; %d logs before it were compared with all processes, and no more are", log.PID(), maxElsewhere)
		}
	}
	var owners []owner
	for _, pid := range rec.PIDs() {
		if o, ok := mayOwn(rec, pid, log); ok {
			owners = append(owners, o)
		}
	}
	if len(owners) > 1 {
		if these := slices.DeleteFunc(slices.Clone(owners), func(o owner) bool { return !o.begins }); len(these) > 0 {
			owners = these
		}
	}
	switch {
	case len(owners) == 1:
		return owners[0].pid, nil
	case len(owners) > 1:
		var pids []string
		for _, o := range owners[:min(len(owners), recording.MaxReasons)] {
			pids = append(pids, fmt.Sprint(o.pid))
		}
		return 0, fmt.Errorf("it may be of any of the processes %s", strings.Join(pids, ", "))
	case log.PID() != 0 && rec.Processes[log.PID()] != nil:
		return 0, fmt.Errorf("it says that it is of process %d, and its code is not where that one had executable memory at that time; was it overwritten by another run?", log.PID())
	case log.PID() != 0:
		return 0, fmt.Errorf("it says that it is of process %d, which is not in the recording, and no process there had executable memory where its code is, at its time: it is the log of another run", log.PID())
	}
	return 0, errors.New("no process of the recording had executable memory where its code is, at its time; was it overwritten by another run?")
}

// mayOwn reports whether a log may belong to a process.
func mayOwn(rec *recording.Recording, pid uint32, log *Log) (o owner, ok bool) {
	p := rec.Processes[pid]
	if pid == 0 || p == nil || len(p.Memory) == 0 {
		return o, false
	}
	o = owner{pid: pid}
	at := uint64(recording.LatestTime)
	if rec.ClockError() == "" {
		if _, err := log.Clock(); err == nil {
			first, last := log.Span()
			at = first
			if apart(rec, pid, first, last) {
				return o, false
			}
			loaded, _ := profilerLoaded(rec, pid, first)
			o.begins = loaded > 0 && log.Began()-loaded < beginning
		}
	}
	inside, outside := codeOf(rec, pid, at, log)
	return o, inside > 9*outside
}

// apart reports whether times are outside the life of the program that ran as a process at the
// first time. Without a common clock, or without a time, it returns false.
func apart(rec *recording.Recording, pid uint32, first, last uint64) bool {
	p := rec.Processes[pid]
	if first == 0 || p == nil || rec.ClockError() != "" {
		return false
	}
	return p.Since > first || rec.ProgramStart(pid, first) > first || p.Exited != 0 && p.Exited < last || rec.ProcessTree.LifeEnd(pid, first) < last
}

// codeOf counts the functions of a log in executable memory of a process, and others.
func codeOf(rec *recording.Recording, pid uint32, at uint64, log *Log) (inside, outside int) {
	related := rec.RelatedMemory([]recording.Marker{{PID: pid, Time: min(at, recording.LatestTime)}})
	inside = model.CountIn(log.Scanned(), related.Executable)
	return inside, len(log.Events) - inside
}

// cannotOwn returns the reason why a log cannot belong to a process that was named for it, or nil.
// Both must hold: its header has another pid, and its code is outside the process's memory. The pid
// alone may differ in a container.
func cannotOwn(rec *recording.Recording, pid uint32, log *Log) error {
	p := rec.Processes[pid]
	if log.PID() == 0 || log.PID() == pid || p == nil || len(p.Memory) == 0 || len(log.Events) == 0 {
		return nil
	}
	claimed := fmt.Sprintf("it says that it is of process %d", log.PID())
	if rec.Processes[log.PID()] == nil {
		claimed += ", which is not in the recording"
	}
	if inside, _ := codeOf(rec, pid, recording.LatestTime, log); inside == 0 {
		return fmt.Errorf("%s, and none of its code is where process %d had executable memory: it is the log of another run", claimed, pid)
	}
	if _, err := log.Clock(); err != nil {
		return nil
	}
	if first, last := log.Span(); apart(rec, pid, first, first) && apart(rec, pid, last, last) {
		return fmt.Errorf("%s, and all that is in it happened before or after the time of process %d: it is the log of another run", claimed, pid)
	}
	return nil
}
