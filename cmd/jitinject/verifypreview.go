package main

import (
	"context"
	"errors"
	"slices"

	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/verify/printed"
)

// previewAll previews the recordings among files, and that which the user assigns to them. Side files and core
// dumps beside them are used if there is one recording: else it is unknown to which of them a file belongs.
func previewAll(ctx context.Context, files []string, assigned string) (all printed.Previews) {
	var recordings, cores []string
	var sides []engine.SideFile
	for _, path := range files {
		kind := engine.Identify(path)
		if st, err := sys.Stat(path); err == nil && st.IsDir() {
			var ok bool
			if kind, ok = engine.IdentifyDir(path); !ok {
				kind = engine.KindRecording
			}
		}
		switch {
		case kind == engine.KindRecording:
			recordings = append(recordings, path)
		case kind == engine.KindCore:
			cores = append(cores, path)
		case engine.IsNamed(kind):
			sides = append(sides, engine.SideFile{Kind: kind, Path: path})
		}
	}
	if assigned != "" && !slices.Contains(recordings, assigned) {
		recordings = append(recordings, assigned)
	}
	if len(recordings) != 1 {
		sides, cores = nil, nil
	}
	for _, path := range recordings {
		p := printed.Preview{Recording: path, Again: "jitinject -i " + quote.ShellWord(path)}
		for _, f := range sides {
			p.Again += " " + quote.ShellWord(f.Path)
		}
		for _, core := range cores {
			p.Again += " " + quote.ShellWord(core)
		}
		p.Summary, p.Err = engine.Run(ctx, engine.Options{Input: path, Preview: true, SideFiles: sides, CodeFrom: cores, Force: true})
		o := &options{input: path, output: defaultOutput}
		if p.Err != nil {
			p.Err = errors.New(o.inWords(p.Err.Error()))
		} else {
			o.putInWords(p.Summary)
		}
		all = append(all, p)
	}
	return all
}
