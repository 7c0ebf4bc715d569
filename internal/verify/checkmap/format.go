package checkmap

import (
	"context"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/recorded"
)

// Format is how maps are checked. A file with the name of a map is one, with any content.
var Format = verify.Format{
	Kind: "perf map", Name: "a perf map", Rules: rules, Check: checkFile,
	Recognizes: func(_ io.ReaderAt, path string) bool { return processOf(path) != 0 },
}

// processOf returns the process in the name of a map, perf-PID.map, or 0.
func processOf(path string) uint32 {
	name, isMap := strings.CutSuffix(filepath.Base(path), ".map")
	digits, isPerf := strings.CutPrefix(name, "perf-")
	n, err := strconv.ParseUint(digits, 10, 32)
	if !isMap || !isPerf || err != nil {
		return 0
	}
	return uint32(n)
}

// Recorded reports whether a map is of a process in a recording.
func Recorded(ctx context.Context, path string, p *recorded.Processes) bool {
	f, size, err := verify.OpenSized(path)
	if err != nil {
		return false
	}
	defer f.Close()
	c := &checker{Reporter: verify.NewReporter(path, &verify.Options{}, nil), pid: processOf(path)}
	if err := c.check(ctx, io.NewSectionReader(f, 0, size)); err != nil {
		return false
	}
	_, found := c.owner(p)
	return found
}
