package recording

import (
	"github.com/jitinject/jitinject/perfdata"
)

// IsUser reports whether a record is of user space. PERF_RECORD_MISC_CPUMODE_MASK is 7.
func IsUser(rec perfdata.Record) bool { return rec.Misc&7 == perfdata.MiscUser }

// LatestTime stands for the time of samples without one.
const LatestTime = 1<<64 - 2
