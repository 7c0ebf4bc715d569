package v8log

import (
	"strconv"
	"strings"
)

// ProcessOf returns the process in the name of a log, isolate-ADDRESS-PID-NAME, if the name is one that
// V8 makes. NAME is the last part of --logfile, v8.log by default, with the process again for %p:
// isolate-ADDRESS-PID-v8-PID.log (PrepareLogFileName of V8's log.cc). It has to end with .log, because
// what tools make of a log is often kept beside it.
func ProcessOf(name string) (pid uint32, ok bool) {
	rest, isIsolate := strings.CutPrefix(name, "isolate-")
	_, rest, _ = strings.Cut(rest, "-")
	digits, file, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), isIsolate && strings.HasSuffix(file, ".log") && err == nil
}
