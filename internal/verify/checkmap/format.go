package checkmap

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/verify"
)

// Format is how maps are checked. A file with the name of a map is one, with any content.
var Format = verify.Format{
	Kind: "perf map", Name: "a perf map", Rules: rules, Check: checkFile,
	HasName: func(path string) bool { return processOf(path) != 0 },
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
