package verify

import (
	"time"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// RealTime is the first time, in nanoseconds, that is none of CLOCK_MONOTONIC: a machine would have
// been up for 31 years.
const RealTime = 1e18

// WrittenSlack is how much later than its file a record may be: file systems take their
// times from a coarser clock.
const WrittenSlack = 1e9

// WrittenAt returns when a file was written last, in this machine's CLOCK_MONOTONIC,
// which is at now; 0 if that is not known.
func WrittenAt(f *sys.File, now uint64) (uint64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if age := time.Since(st.ModTime()); now != 0 && age >= 0 && uint64(age) < now {
		return now - uint64(age), nil
	}
	return 0, nil
}
