package codebytes

import (
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/recording"
)

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
