package codebytes

import (
	"errors"
	"fmt"
	"time"

	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/recording"
)

// The kernel uses pids again. So a running process must have started when the process of the
// recording did, and must have files mapped where that had them.

// startSlack is the allowed difference between a process's start in /proc and in the recording, in
// nanoseconds. /proc has it in units of 10 ms, and the kernel takes the two times one after the other.
const startSlack = uint64(time.Second)

// matchLive fails if a running process is not the one of the recording, with the reason.
func matchLive(rec *recording.Recording, live *procmem.Process, p *candidate) error {
	if live.PID() != int(p.PID) {
		return fmt.Errorf("it is process %d, not %d", live.PID(), p.PID)
	}
	if err := live.Check(); err != nil {
		return err
	}
	if err := startedThen(rec, p.PID, live.Started()); err != nil {
		return err
	}
	mapped, err := compareMaps(live, p.Maps)
	switch {
	case err != nil:
		return fmt.Errorf("another process has the pid %d now: %w", p.PID, err)
	case !mapped:
		return fmt.Errorf("the process that has the pid %d now shares no mapped file with the one that was recorded: it runs %q", p.PID, live.Program())
	case p.Holds != nil && !p.Holds(live):
		return errors.New("it has no memory where its functions were")
	}
	return nil
}

// startedThen fails if a process that started at a time of CLOCK_MONOTONIC is not the last one that
// had the pid in the recording. It proves nothing where the recording has another clock.
func startedThen(rec *recording.Recording, pid uint32, started uint64) error {
	p := rec.Processes[pid]
	if rec.ClockError() != "" || p == nil {
		return nil
	}
	born := uint64(0)
	if b, ok := rec.ProcessTree.Fork(pid, recording.LatestTime); ok && b.Clones {
		born = b.Time
	}
	if p.Exited != 0 && p.Exited >= born && started > p.Exited {
		return fmt.Errorf("another process has the pid %d now: it started %s after the recorded one had ended", pid, after(started, p.Exited))
	}
	switch {
	case born != 0 && started+startSlack < born:
		return fmt.Errorf("another process has the pid %d now: it started %s before the recorded one", pid, after(born, started))
	case born == 0: // records about processes that are older than the recording have made-up times
		born = max(p.Since, rec.Began)
	}
	if born != 0 && started > born+startSlack {
		return fmt.Errorf("another process has the pid %d now: it started %s after the recorded one", pid, after(started, born))
	}
	return nil
}

// after returns the time between two times, rounded.
func after(later, earlier uint64) time.Duration {
	return time.Duration(later - earlier).Round(10 * time.Millisecond)
}

// Owner returns the process of the recording that a core or a running process is of. f must not be an
// image. note says what was inferred, or is "". It fails if there is no such process, with the reason.
func Owner(rec *recording.Recording, f *File) (pid uint32, note string, err error) {
	match := func(pid uint32) (string, error) {
		return match(rec, f, &candidate{PID: pid, Last: recording.LatestTime, Maps: rec.FileMapsOf(pid, recording.LatestTime)})
	}
	own := uint32(max(f.Memory().PID(), 0))
	if rec.Processes[own] != nil {
		if note, err = match(own); err == nil || f.Live != nil {
			return own, note, err
		}
	} else if own != 0 {
		err = fmt.Errorf("it is of process %d, which is not in the recording", own)
	}
	var others []uint32
	for _, other := range rec.PIDs() {
		if other == own || other == 0 || f.Live != nil {
			continue
		}
		if n, e := match(other); e == nil {
			others, pid, note = append(others, other), other, n
		}
	}
	switch {
	case len(others) == 1:
		return pid, note, nil
	case len(others) > 1:
		return 0, "", fmt.Errorf("it may be of any of %d processes, such as %d and %d", len(others), others[0], others[1])
	case err == nil:
		err = errors.New("no process of the recording has its files mapped where it has them")
	}
	return 0, "", err
}
