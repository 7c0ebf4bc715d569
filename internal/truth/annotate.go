package truth

import (
	"context"
	"fmt"
	"regexp"

	"github.com/jitinject/jitinject/internal/judge"
)

// hottest is the first entry of the list with which perf annotate -l begins.
var hottest = regexp.MustCompile(`(?m)^\s+\d+\.\d+\s+(?:\S*/)?([^/\s]+:\d+)`)

// CheckAnnotate asks perf annotate for the hottest line of each marked function, in the
// symbol with most samples. It adds the line to the verdicts as an answer of "perf
// annotate" for these samples. A symbol without lines gets no answer.
func CheckAnnotate(ctx context.Context, verdicts []Verdict, marks []Mark, samples []judge.Sample, perf, file string) error {
	counts := make(map[*Mark]map[string]int)
	for i := range samples {
		if len(samples[i].Frames) == 0 || !samples[i].Frames[0].Jitted() {
			continue
		}
		symbol := samples[i].Frames[0].Symbol
		if m, _ := find(marks, symbol); m != nil {
			if counts[m] == nil {
				counts[m] = make(map[string]int)
			}
			counts[m][symbol]++
		}
	}
	for i := range verdicts {
		symbol, most := "", 0
		for s, n := range counts[verdicts[i].Mark] {
			if n > most || n == most && s < symbol {
				symbol, most = s, n
			}
		}
		if most == 0 {
			continue
		}
		cmd, clean, err := judge.Command(ctx, perf, "annotate", "--stdio", "-l", "-f", "-i", file, "-s", symbol)
		if err != nil {
			return err
		}
		out, err := cmd.Output()
		clean()
		if err != nil {
			return fmt.Errorf("perf annotate -s %q: %w%s", symbol, err, stderrOf(err))
		}
		if m := hottest.FindSubmatch(out); m != nil {
			verdicts[i].answer("perf annotate").add(verdicts[i].Mark, nil, []Place{parsePlace(string(m[1]))}, most)
		}
	}
	return nil
}
