package main

import (
	"context"
	"errors"
	"slices"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/verify/printed"
)

// previewAll previews the recordings among files, and that which the user assigns to them. Side files and core
// dumps beside them are used if there is one recording: else it is unknown to which of them a file belongs.
func previewAll(ctx context.Context, files []string, assigned string) (all printed.Previews) {
	var recordings, cores []string
	var sides []config.SideFile
	for _, path := range files {
		kind := formats.Identify(path)
		st, err := sys.Stat(path)
		if err != nil && kind == formats.Unknown && !safefile.IsAbsent(err) {
			all = append(all, printed.Preview{Recording: path, Err: safefile.WithoutPath(err)})
			continue
		}
		if err == nil && st.IsDir() {
			var ok bool
			if kind, ok = formats.IsDirectory(path); !ok {
				kind = formats.Recording
			}
		}
		switch {
		case kind == formats.Recording:
			recordings = append(recordings, path)
		case kind == formats.Core:
			cores = append(cores, path)
		case formats.IsNamed(kind):
			sides = append(sides, config.SideFile{Kind: kind, Path: path})
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
		o := &options{Options: config.Options{Input: path}}
		o.addFiles()
		p.Summary, p.Err = engine.Run(ctx, config.Options{Input: path, Preview: true, DumpDirs: o.DumpDirs, SideFiles: sides, CodeFrom: cores, Force: true, Proposal: o.again})
		if p.Err != nil {
			p.Err = errors.New(report.Once(p.Err.Error()))
		} else {
			nameOnce(p.Summary)
			for i := range p.Summary.Problems {
				advice := &p.Summary.Problems[i].Advice
				*advice = inCommand(*advice, p.Again)
			}
		}
		all = append(all, p)
	}
	return all
}
