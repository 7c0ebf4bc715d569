package v8

import (
	"bytes"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/runtime/v8/stays"
	"github.com/jitinject/jitinject/internal/source"
)

// A jitdump of the process counts before its logs. A log describes what the dump leaves out, and takes the time at
// which it began from the functions that both have.

// regExp begins the names of regular expressions. Newer V8 (156) spells these in its dump as no log does, with their flags:
// only their places and times are compared.
var regExp = []byte("RegExp")

// loadsOf returns the functions of dumps. Those of dumps that are not V8's, or of a recording with other times,
// are there all the time.
func loadsOf(f *stays.Life, dumps []source.Dump) *stays.Loads {
	d := stays.NewLoads()
	for _, dump := range dumps {
		j, ok := dump.(*jitdump.Dump)
		if !ok || !j.IsV8() || !f.IsSteady() {
			for _, e := range dump.Scanned().Events {
				if e.Size > 0 {
					d.AddAlways(e.Addr, e.Size)
				}
			}
			continue
		}
		named := make([]bool, j.NumFunctions())
		for load, err := range j.V8Loads() {
			if err == nil && load.Size > 0 {
				named[load.Function] = true
				name := load.Name
				if bytes.HasPrefix(name, regExp) {
					name = regExp
				}
				d.Add(load.Addr, load.Size, dumpKey(name), int64(min(load.Time, stays.Never)))
			}
		}
		for _, e := range j.Scanned().Events {
			if e.Kind == jitcode.Load && e.Size > 0 && !named[e.Function] { // it cannot be read again
				d.AddAlways(e.Addr, e.Size)
			}
		}
	}
	return d
}
