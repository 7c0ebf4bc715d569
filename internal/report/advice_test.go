package report

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// No other file or directory helps against a limit.
func TestAdvice_OfLimits(t *testing.T) {
	for errno, want := range map[unix.Errno]string{unix.EMFILE: "ulimit -n", unix.ENFILE: "fs.file-max"} {
		err := fmt.Errorf("x: %w", errno)
		for name, got := range map[string]string{
			"Advise":      Advise(err, "name another").Error(),
			"AdviceStore": AdviceStore(err),
			"AdviceNamed": AdviceNamed(1, err),
			"ProblemOf":   ProblemOf("file", err, "name another").Advice,
		} {
			if !strings.Contains(got, want) || strings.Contains(got, "name another") {
				t.Errorf("%s of %v: got %q; want the advice %s", name, errno, got, want)
			}
		}
	}
	if got := Advise(unix.EIO, "name another").Error(); got != "input/output error; name another" {
		t.Errorf("got %q; want the advice for other errors", got)
	}
}
