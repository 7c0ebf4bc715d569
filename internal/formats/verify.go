package formats

import (
	"context"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkdump"
	"github.com/jitinject/jitinject/internal/verify/checkgdbjit"
	"github.com/jitinject/jitinject/internal/verify/checkobject"
	"github.com/jitinject/jitinject/internal/verify/checkrecording"
	"github.com/jitinject/jitinject/internal/verify/recorded"
)

// Verifier returns a checker for files of all formats: side files, recordings and ELF files. Its
// rules are in the order of All.
func Verifier() *verify.Verifier {
	var v *verify.Verifier
	var side []verify.Format
	for i := range All {
		if f := All[i].Verify; f.Check != nil {
			f.Identify = All[i].Identify
			side = append(side, f)
		}
	}
	belongs := func(ctx context.Context, path string, p *recorded.Processes) bool {
		kind := v.KindOf(path)
		if kind == checkgdbjit.Format.Kind {
			return checkgdbjit.Recorded(ctx, path, p)
		}
		f := verified(kind)
		return f != nil && f.Recorded != nil && f.Recorded(ctx, path, p)
	}
	v = verify.New(side, []verify.Format{checkrecording.Format(belongs, events()), checkgdbjit.Format, checkobject.Format})
	return v
}

// Beside returns the recordings among files that v checks, the side files and core dumps that recordings
// do not name, and the dumps with functions that a companion may describe.
func Beside(v *verify.Verifier, files []string) (recordings, logs, dumps []string) {
	for _, path := range files {
		kind := v.KindOf(path)
		if f := verified(kind); f != nil && f.Recorded != nil || kind == checkgdbjit.Format.Kind {
			logs = append(logs, path)
		} else if kind == checkrecording.Kind {
			recordings = append(recordings, path)
		} else if kind == checkdump.Format.Kind {
			dumps = append(dumps, path)
		}
	}
	return recordings, logs, dumps
}

// verified returns the format of side files with a kind in package verify, or nil.
func verified(kind string) *Format {
	for i := range All {
		if All[i].Verify.Check != nil && All[i].Verify.Kind == kind {
			return &All[i]
		}
	}
	return nil
}
