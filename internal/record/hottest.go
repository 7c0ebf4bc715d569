package record

import (
	"os/exec"
	"strings"
)

// A HotFunction is a line of perf report.
type HotFunction struct {
	Share  string // of the samples, as perf prints it: 12.34%
	Name   string
	Object string // file name
}

// Hottest asks perf for the functions with the most samples of their own, of the first event that has
// samples. An error is perf's.
func Hottest(perf, result string, most int) (event string, functions []HotFunction, err error) {
	cmd := exec.Command(perf, "report", "-i", result, "--stdio", "--no-children", "-g", "none", "--no-inline", "-F", "overhead,sym,dso", "-t", separator, "--percent-limit", "0.5")
	out, err := cmd.Output()
	if err != nil {
		return "", nil, err
	}
	event, functions = readReport(string(out), most)
	return event, functions, nil
}

// separator is between the fields of a line of perf report. Names of functions do not have it.
const separator = "\x1f"

// readReport reads perf's report.
func readReport(text string, most int) (event string, functions []HotFunction) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if _, name, ok := strings.Cut(line, "of event '"); ok && strings.HasPrefix(line, "#") {
			if len(functions) > 0 {
				break
			}
			event = strings.TrimSuffix(name, "'")
			continue
		}
		fields := strings.Split(line, separator)
		if len(fields) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		name := strings.TrimSpace(fields[1])
		if _, after, ok := strings.Cut(name, "] "); ok && strings.HasPrefix(name, "[") { // [.] or [k]
			name = after
		}
		if functions = append(functions, HotFunction{strings.TrimSpace(fields[0]), name, strings.TrimSpace(fields[2])}); len(functions) == most {
			break
		}
	}
	return event, functions
}
