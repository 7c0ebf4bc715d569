package v8

import (
	"context"
	"io"
	"strings"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Kind is the kind of V8's logs in the summary and in options.
const Kind = "v8log"

// Identify reports whether a file begins as a log of V8.
func Identify(src io.ReaderAt, _ string) bool { return v8log.IsLog(src) }

// An attacher finds the logs of dumps.
type attacher struct {
	*locate.Attached
	ctx     context.Context
	rec     *recording.Recording
	dumps   []*model.Dump
	opts    *config.Options
	targets []*target
	seen    map[sys.Inode]bool
	refused []refused
	copies  []string // notes about logs that add nothing to others
	memory  int      // of the logs that are used; see maxIndex

	sets    map[setKey]*dumpSet
	byPID   map[uint32][]*target
	listed  map[sys.Inode]map[uint32][]string // paths of logs in a directory, by process
	unnamed int                               // problems of logs that no option names
	more    report.Problem
}

// A target is a dump of V8.
type target struct {
	dump      *model.Dump
	jitdump   *jitdump.Dump
	path      string // of the dump
	loads     loads
	wanted    map[place]int
	functions map[int]described
	indexes   []*index // of its logs
}

// Attach finds the logs of dumps, reads them, and lets the dumps describe their functions by them.
// Logs without an option are looked for beside the dump, beside the recording and in DumpDirs. A
// log that cannot be used becomes a problem. The error is ctx's, or of a log that was named and
// cannot be opened. The caller closes the result.
func Attach(ctx context.Context, rec *recording.Recording, dumps []*model.Dump, opts *config.Options) (*locate.Attached, error) {
	a := &attacher{
		Attached: new(locate.Attached), ctx: ctx, rec: rec, dumps: dumps, opts: opts, seen: make(map[sys.Inode]bool),
		sets: make(map[setKey]*dumpSet), byPID: make(map[uint32][]*target), listed: make(map[sys.Inode]map[uint32][]string),
	}
	for _, d := range dumps {
		j, ok := d.Source.(*jitdump.Dump)
		if ok {
			d.Unlogged = j.Optimized()
		}
		if ok && j.IsV8() {
			t := &target{dump: d, jitdump: j, path: d.Path}
			a.targets = append(a.targets, t)
			for _, pid := range t.pids() {
				a.byPID[pid] = append(a.byPID[pid], t)
			}
		}
	}
	err := a.named()
	for i := 0; i < len(a.targets) && err == nil; i++ {
		err = a.find(a.targets[i])
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	for _, t := range a.targets {
		t.dump.Unlogged -= len(t.functions)
		sorting.Stable(t.dump.Logs, func(x, y report.LogSummary) int { return strings.Compare(x.Path, y.Path) })
	}
	a.reportRefused()
	a.reportLacking()
	a.reportUnmapped()
	a.reportMore()
	for _, t := range a.targets {
		if t.functions != nil {
			a.describe(t)
		}
	}
	return a.Attached, nil
}

// describe lets the logs of a dump describe its functions.
func (a *attacher) describe(t *target) {
	functions := t.functions
	d := jitdump.Description{
		Has:   func(i int) bool { _, ok := functions[i]; return ok },
		Trees: func() jitdump.TreeSource { return &Trees{functions: functions} },
		Texts: t.texts(),
		Embed: a.opts.Sources != "" || a.opts.EmbedSources,
	}
	if a.opts.SourceMaps {
		d.Originals, d.Texts = a.loadMaps(t, d.Texts)
	}
	t.jitdump.Describe(d)
}
