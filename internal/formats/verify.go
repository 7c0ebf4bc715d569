package formats

import (
	"context"

	"github.com/jitinject/jitinject/internal/verify"
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
		f := All[i].Verify
		if f.Check == nil && All[i].Readers == "" {
			continue
		}
		f.Identify, f.Holds = All[i].Identify, All[i].Holds
		if f.Check == nil {
			f.Kind, f.Name, f.Readers = All[i].Kind, All[i].Name, All[i].Readers
		}
		side = append(side, f)
	}
	belongs := func(ctx context.Context, path string, p *recorded.Processes) bool {
		kind := v.KindOf(path)
		if kind == checkgdbjit.Format.Kind {
			return checkgdbjit.Recorded(ctx, path, p)
		}
		f := verified(kind)
		return f != nil && (f.Verify.Check == nil || f.Recorded != nil && f.Recorded(ctx, path, p))
	}
	v = verify.New(side, []verify.Format{checkrecording.Format(belongs, events()), checkgdbjit.Format, checkobject.Format})
	return v
}

// Beside returns the recordings among files that v knows, and the side files and core dumps that
// recordings do not name. failed has the errors of files whose kind could not be found out.
func Beside(v *verify.Verifier, files []string) (recordings, logs []string, failed map[string]error) {
	failed = make(map[string]error)
	for _, path := range files {
		kind, err := v.Kind(path)
		if f := verified(kind); err != nil {
			failed[path] = err
		} else if f != nil && (f.Verify.Check == nil || f.Recorded != nil) || kind == checkgdbjit.Format.Kind {
			logs = append(logs, path)
		} else if kind == checkrecording.Kind {
			recordings = append(recordings, path)
		}
	}
	return recordings, logs, failed
}

// verified returns the format of side files that has a kind in package verify, or nil. Files of formats
// without a check have the kind of the registry there.
func verified(kind string) *Format {
	for i := range All {
		if f := &All[i]; f.Verify.Check != nil && f.Verify.Kind == kind || f.Readers != "" && f.Kind == kind {
			return &All[i]
		}
	}
	return nil
}
