package testrec

import (
	"regexp"
	"strings"
)

// unswapped has what perf leaves as it is when it reads a file of the other byte
// order: protection and flags of MMAP2, the number in EVENT_UPDATE, and the
// attr's clock. So anonymous memory does not count as executable, and is not
// called after a perf map.
var unswapped = regexp.MustCompile(`(?m)(PERF_RECORD_MMAP2 .*\]: ).{4} |^\.\.\. scale: .*$|\(?/tmp/perf-\d+\.map\)?|\(?//anon\)?|\(?/dev/zero \(deleted\)\)?|clockid[:=] \d+|clockid = \d+|^# captured on.*$`)

// Shown returns what perf script -D or perf report --header-only print, without
// what may differ when a recording is swapped: the bytes of records, and what perf
// does not swap.
func Shown(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, ". ") {
			b.WriteString(line)
		}
	}
	return unswapped.ReplaceAllString(b.String(), "$1")
}
