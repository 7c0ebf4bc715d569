package perfmap

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// tmpName returns the path of a process's map. The pid is that of its own pid namespace.
func tmpName(pid uint32) string { return fmt.Sprintf("/tmp/perf-%d.map", pid) }

// pidOf returns the process in the name of a map, or 0.
func pidOf(path string) uint32 {
	rest, isMap := strings.CutSuffix(filepath.Base(path), ".map")
	digits, isPerf := strings.CutPrefix(rest, "perf-")
	pid, err := strconv.ParseUint(digits, 10, 32)
	if !isMap || !isPerf || err != nil {
		return 0
	}
	return uint32(pid)
}

// isForeign returns the reason why a file that was found cannot be the map of a process, or nil.
func isForeign(rec *recording.Recording, pid uint32, path string, info fs.FileInfo) error {
	if err := locate.IsForeign(rec, pid, naming(pid, path), info); err != nil || info.Size() > 0 {
		return err
	}
	return errEmpty
}

// errEmpty says that a map has no content: its runtime has not written it, or the disk is full.
var errEmpty = report.Advise(errors.New("it is empty"), adviceWrite)

// adviceWrite is the advice for a file that is no map.
const adviceWrite = "have the runtime write the map again"

// naming returns a map with its process as messages mention it.
func naming(pid uint32, path string) string {
	return report.MentionedSideFile(Kind, fmt.Sprint(pid), path)
}
