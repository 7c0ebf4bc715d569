package main

import (
	"context"
	"errors"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/verify/printed"
)

// previewAll previews recordings. Side files and core dumps beside them are used if there is one recording: else
// it is unknown to which of them a file belongs.
func previewAll(ctx context.Context, recordings, logs []string) (all printed.Previews) {
	var sides []config.SideFile
	var cores []string
	for _, path := range logs {
		kind := formats.Identify(path)
		if in, ok := formats.IsDirectory(path); ok {
			kind = in
		}
		switch {
		case len(recordings) != 1:
		case kind == formats.Core:
			cores = append(cores, path)
		case formats.IsNamed(kind):
			sides = append(sides, config.SideFile{Kind: kind, Path: path})
		}
	}
	for _, path := range recordings {
		p := printed.Preview{Recording: path, Again: "jitinject -i " + quote.ShellWord(path)}
		for _, f := range sides {
			p.Again += " " + quote.ShellWord(f.Path)
		}
		for _, core := range cores {
			p.Again += " " + quote.ShellWord(core)
		}
		o := &options{Options: config.Options{Input: path, Output: defaultOutput}}
		p.Summary, p.Err = engine.Run(ctx, config.Options{Input: path, Preview: true, SideFiles: sides, CodeFrom: cores, Force: true, Proposal: o.again})
		if p.Err != nil {
			p.Err = errors.New(report.Once(p.Err.Error()))
		} else {
			nameOnce(p.Summary)
		}
		all = append(all, p)
	}
	return all
}
