package checks

import (
	"context"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/runtime/mono"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
	"github.com/jitinject/jitinject/internal/runtime/perfmap"
	"github.com/jitinject/jitinject/internal/runtime/v8"
	"github.com/jitinject/jitinject/internal/runtime/xray"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkdump"
	"github.com/jitinject/jitinject/internal/verify/checkgdbjit"
	"github.com/jitinject/jitinject/internal/verify/checkmap"
	"github.com/jitinject/jitinject/internal/verify/checkobject"
	"github.com/jitinject/jitinject/internal/verify/checkrecording"
	"github.com/jitinject/jitinject/internal/verify/recorded"
)

// A check checks files of a format of side files.
type check struct {
	// format checks files by rules of its own. It uses nothing of the registry, except Identify. It has
	// no Check if only the runtime could mend what is wrong.
	format verify.Format

	// readers are the programs that show files of the format, if it has no Check.
	readers string

	// recorded reports whether a file belongs to a process in a recording. It is for formats that
	// recordings do not name.
	recorded recorded.BelongsFunc
}

// byKind has the checks of side files. gdbjit has none: its files are core dumps.
var byKind = map[string]check{
	jitdump.Kind: {format: checkdump.Format},
	mono.Kind:    {readers: "jitinject dump and mprof-report"},
	xray.Kind:    {readers: "jitinject dump and llvm-xray"},
	openj9.Kind:  {readers: "jitinject dump"},
	v8.Kind:      {readers: "jitinject dump"},
	perfmap.Kind: {format: checkmap.Format, recorded: checkmap.Recorded},
}

// Verifier returns a checker for files of all formats: side files, recordings and ELF files. Its
// rules are in the order of formats.All.
func Verifier() *verify.Verifier {
	var v *verify.Verifier
	var side []verify.Format
	for _, format := range formats.All {
		c, ok := byKind[format.Kind]
		if !ok {
			continue
		}
		f := c.format
		f.Identify, f.Holds = format.Identify, format.Holds
		if f.Check == nil {
			f.Kind, f.Name, f.Readers = format.Kind, format.Name, c.readers
		}
		side = append(side, f)
	}
	belongs := func(ctx context.Context, path string, p *recorded.Processes) bool {
		kind := v.KindOf(path)
		if kind == checkgdbjit.Format.Kind {
			return checkgdbjit.Recorded(ctx, path, p)
		}
		c, ok := checkOf(kind)
		return ok && (c.format.Check == nil || c.recorded != nil && c.recorded(ctx, path, p))
	}
	v = verify.New(side, []verify.Format{checkrecording.Format(belongs, formats.Events()), checkgdbjit.Format, checkobject.Format})
	return v
}

// Beside returns the recordings among files that v knows, and the side files and core dumps that
// recordings do not name. failed has the errors of files whose kind could not be found out.
func Beside(v *verify.Verifier, files []string) (recordings, logs []string, failed map[string]error) {
	failed = make(map[string]error)
	for _, path := range files {
		kind, err := v.Kind(path)
		if c, ok := checkOf(kind); err != nil {
			failed[path] = err
		} else if ok && (c.format.Check == nil || c.recorded != nil) || kind == checkgdbjit.Format.Kind {
			logs = append(logs, path)
		} else if kind == checkrecording.Kind {
			recordings = append(recordings, path)
		}
	}
	return recordings, logs, failed
}

// checkOf returns the check of side files that have a kind in package verify. Files of formats without a
// Check have the kind of the registry there.
func checkOf(kind string) (c check, ok bool) {
	for of, c := range byKind {
		if c.format.Check != nil && c.format.Kind == kind || c.format.Check == nil && of == kind {
			return c, true
		}
	}
	return c, false
}
