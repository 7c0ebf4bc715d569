package v8

import (
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/runtime/v8/stays"
)

// loadsOf returns the functions of dumps: from those that both have, a log takes the time at which it began. In
// a recording with other times, they are there all the time.
func loadsOf(f *stays.Life, dumps []*jitdump.Dump) *stays.Loads {
	d := stays.NewLoads()
	for _, j := range dumps {
		named := make([]bool, j.NumFunctions())
		for load, err := range j.V8Loads() {
			if err == nil && load.Size > 0 && f.IsSteady() {
				named[load.Function] = true
				d.Add(load.Addr, load.Size, dumpKey(load.Name), int64(min(load.Time, stays.Never)))
			}
		}
		for _, e := range j.Events {
			if e.Size > 0 && (e.Kind != jitcode.Load || !named[e.Function]) { // or it cannot be read again
				d.AddAlways(e.Addr, e.Size)
			}
		}
	}
	return d
}
