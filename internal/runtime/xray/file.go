package xray

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// Kind is the kind of traces of XRay in the summary and in options.
const Kind = "xray"

// Identify reports whether a file begins as a trace in XRay's FDR mode.
func Identify(src io.ReaderAt, _ string) bool {
	var head [8]byte
	n, _ := src.ReadAt(head[:], 0)
	return xrayfdr.Looks(head[:n])
}

// hint adds a note about an unused trace in the recording's directory. The runtime names traces
// xray-log.PROGRAM.XXXXXX.
func hint(s *recording.Recording, opts *config.Options, found *report.Findings) {
	logs, _ := s.In.Glob(s.In.Dir, "xray-log.*") // only for a note
	if len(logs) == 0 {
		return
	}
	pids := make(map[string]uint32) // the first process with each file, by its name without directories
	for _, pid := range slices.Backward(s.PIDs()) {
		for i := range s.Processes[pid].FileMaps {
			if name := s.Processes[pid].FileMaps[i].Name; name != "" {
				pids[filepath.Base(name)] = pid
			}
		}
	}
	for _, path := range logs {
		name := strings.TrimPrefix(filepath.Base(path), "xray-log.")
		if pid, ok := pids[strings.TrimSuffix(name, filepath.Ext(name))]; ok {
			found.Note(fmt.Sprintf("%s looks like a trace of %s; to add its calls: %s", quote.Printable(path), recording.NameOf(pid, s.Processes[pid].Comm), opts.Again(report.Setting{Field: "SideFiles", Kind: Kind, Value: path, IsPath: true})))
			return
		}
	}
}
