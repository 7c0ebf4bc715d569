package plan

import (
	"runtime"
	"runtime/metrics"
)

// Collect frees the memory of the stage before, which is enough for the next one. The collector by
// itself would wait until twice as much is in use. For 100,000 functions, it takes 5 ms, and no less
// for few on a busy machine: then there is nothing to gain.
func Collect() {
	inUse := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(inUse); inUse[0].Value.Uint64() >= 16<<20 {
		runtime.GC()
	}
}
