package inject

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// hintXRay notes a trace beside the recording that nobody has asked for: the runtime calls it
// xray-log.PROGRAM.XXXXXX.
func (s *recording) hintXRay(opts *Options, sum *Summary) {
	logs, _ := filepath.Glob(filepath.Join(literal(s.in.dir), "xray-log.*"))
	for _, path := range logs {
		name := strings.TrimPrefix(filepath.Base(path), "xray-log.")
		name = strings.TrimSuffix(name, filepath.Ext(name))
		for _, pid := range s.pids() {
			if slices.ContainsFunc(s.processes[pid].fileMaps, func(m fileMap) bool { return m.name != "" && filepath.Base(m.name) == name }) {
				sum.note(fmt.Sprintf("%s looks like a trace of %s; to put its calls in: %s --xray %s", Printable(path), nameOf(pid, s.processes[pid].comm), opts.commandLine(), shellWord(path)))
				return
			}
		}
	}
}
