package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/truth"
)

// least is the number of samples that a function needs for its name to count as seen.
const least = 2

// A perf is a version of perf to judge with.
type perf struct{ version, path string }

// A measured is the result of one recording of a runtime.
type measured struct {
	resolved, code int // samples in named functions; samples in jitted code
	verdicts       []truth.Verdict
	stacks         []pair // in the order of the perfs
	warnings       []string
}

// A pair counts the stacks under one perf.
type pair struct {
	perf         string
	jitted       int  // samples with a jitted frame in either result
	ours, theirs int  // those that reach the bottom
	injected     bool // perf inject made a result that perf can read
	unread       bool // perf cannot read our result in time, or at all
	losses       []judge.Loss
}

// count counts the stacks of both results.
func (p *pair) count(theirs, ours []judge.Sample) {
	for _, s := range judge.Pairs(theirs, ours) {
		if !s.Jitted() {
			continue
		}
		p.jitted++
		if s.Ours != nil && s.Ours.Whole() {
			p.ours++
		}
		if s.Theirs != nil && s.Theirs.Whole() {
			p.theirs++
		}
	}
}

// measure measures a runtime. The program's functions run for a fixed time. On a busy
// machine that may be too short to compile all of them; then the program runs again, for
// longer.
func (s *site) measure(ctx context.Context, f *family, perfs []perf, k kind) (*measured, error) {
	m, err := s.measureOnce(ctx, f, perfs, k)
	if err != nil || f.programs == nil || f.callers && !s.dwarf {
		return m, err
	}
	if t := truth.Sum(m.verdicts, least); t.Seen < t.Functions {
		k.milliseconds = "200"
		return s.measureOnce(ctx, f, perfs, k)
	}
	return m, nil
}

// measureOnce records the site's program with one kind of stacks, injects, and judges.
// Lines are judged only with stacks by frame pointers: both kinds have the same.
func (s *site) measureOnce(ctx context.Context, f *family, perfs []perf, k kind) (*measured, error) {
	s.dwarf, s.milliseconds = k.name == copies.name, k.milliseconds
	c, err := f.prepare(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := s.clear(); err != nil {
		return nil, err
	}
	file, said, err := s.injected(ctx, f, perfs[0].path, k, c)
	if err != nil {
		return nil, err
	}
	m := &measured{}
	for line := range strings.Lines(said) {
		if problem, ok := strings.CutPrefix(line, "jitinject: "); ok {
			m.warnings = append(m.warnings, "jitinject says: "+strings.TrimSpace(problem))
		}
	}
	if more := len(m.warnings) - 1; more > 1 {
		m.warnings[0] += fmt.Sprintf(", and %d more", more)
		m.warnings = m.warnings[:1]
	}
	var own []judge.Sample                   // samples by which names and lines are judged
	shown := make(map[string][]judge.Sample) // by perf
	for i, p := range perfs {
		ours, err := s.script(ctx, p, file)
		shown[p.version] = ours
		switch {
		case err != nil && (i == 0 || ctx.Err() != nil):
			return nil, err
		case err != nil:
			m.warnings = append(m.warnings, fmt.Sprintf("perf %s cannot read our result: %s", p.version, reason(err)))
			m.stacks = append(m.stacks, pair{perf: p.version, unread: true})
			continue
		case i > 0:
		case f.callers:
			own = innermost(ours)
		default:
			// perf shows no frame of a call chain that ends in junk. With -G it prints the
			// sample's own address all the same.
			if own, err = s.script(ctx, p, file, "-G"); err != nil {
				return nil, err
			}
		}
		m.stacks = append(m.stacks, s.beside(ctx, p, f, ours, m))
	}
	m.count(own)
	if m.code == 0 {
		return nil, fmt.Errorf("no sample is in jitted code; jitinject says: %s", strings.TrimSpace(said))
	}
	return m, s.truth(ctx, f, perfs, file, own, shown, m)
}

// injected records the program and injects.
func (s *site) injected(ctx context.Context, f *family, perf string, k kind, c *command) (file, said string, err error) {
	if f.live {
		return s.injectLive(ctx, perf, k, c)
	}
	if err := s.record(ctx, perf, k, c); err != nil {
		return "", "", err
	}
	return s.inject(ctx, c)
}

// clear removes dumps of an earlier run, and files made from them.
func (s *site) clear() error {
	var all []string
	for _, pattern := range []string{"jit-*.dump", "jitted-*.so", "ours", "app.mlpd", "app.core", "profile"} {
		files, err := filepath.Glob(filepath.Join(s.work, pattern))
		if err != nil {
			return err
		}
		all = append(all, files...)
	}
	for _, path := range all {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// scriptLimit bounds the time of perf script. perf 6.12 takes longer for tens of thousands
// of mappings.
const scriptLimit = 2 * time.Minute

// script runs perf script, within scriptLimit.
func (s *site) script(ctx context.Context, p perf, file string, args ...string) ([]judge.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, scriptLimit)
	defer cancel()
	return judge.Script(ctx, p.path, file, args...)
}

// beside compares our stacks with perf inject's. If perf inject fails, there is no loss.
func (s *site) beside(ctx context.Context, p perf, f *family, ours []judge.Sample, m *measured) (result pair) {
	result.perf = p.version
	var theirs []judge.Sample
	defer func() { result.count(theirs, ours) }()
	if f.log || f.live {
		return result
	}
	file, err := s.perfInject(ctx, p)
	if err != nil {
		m.warnings = append(m.warnings, fmt.Sprintf("perf inject %s fails: %s", p.version, reason(err)))
		return result
	}
	if theirs, err = s.script(ctx, p, file); err != nil {
		m.warnings = append(m.warnings, fmt.Sprintf("perf %s cannot read what its inject wrote: %s", p.version, reason(err)))
		return result
	}
	result.injected = true
	result.losses = judge.Real(judge.Compare(theirs, ours, judge.Stated...))
	return result
}

// count counts samples with jitted code as their own function, and those with a name.
func (m *measured) count(samples []judge.Sample) {
	for i := range samples {
		if len(samples[i].Frames) == 0 {
			continue
		}
		f := &samples[i].Frames[0]
		if f.Jitted() || f.Anonymous() {
			m.code++
		}
		if f.Jitted() && f.Symbol != "" {
			m.resolved++
		}
	}
}

// truth judges names, and lines if the runtime records them. shown is what each perf shows.
func (s *site) truth(ctx context.Context, f *family, perfs []perf, file string, samples []judge.Sample, shown map[string][]judge.Sample, m *measured) (err error) {
	if f.programs == nil {
		return nil
	}
	var sources []string
	for _, p := range f.programs {
		sources = append(sources, filepath.Join(s.work, p))
	}
	marks, err := truth.Marks(sources...)
	if err != nil {
		return err
	}
	mappings, err := judge.Mappings(ctx, perfs[0].path, file)
	if err != nil {
		return err
	}
	if !f.lines {
		m.verdicts, err = truth.Check(ctx, marks, samples, mappings, nil)
		return err
	}
	if m.verdicts, err = truth.Check(ctx, marks, samples, mappings, truth.Tools); err != nil || s.dwarf {
		return err
	}
	for _, p := range perfs {
		// perf 7 shows the parameters of C++. Inlined calls are frames of call chains only.
		symbols := truth.Symbols(marks, slices.Concat(samples, shown[p.version]))
		lines, err := judge.Lines(ctx, p.path, file, symbols)
		if err != nil {
			return err
		}
		truth.CheckLines(m.verdicts, marks, lines, "perf script "+p.version)
	}
	return truth.CheckAnnotate(ctx, m.verdicts, marks, samples, perfs[0].path, file)
}

// innermost returns the samples with frames in jitted code, without the frames before the
// first of these.
func innermost(samples []judge.Sample) (out []judge.Sample) {
	for i := range samples {
		frames := samples[i].Frames
		if at := slices.IndexFunc(frames, func(f judge.Frame) bool { return f.Jitted() || f.Anonymous() && !f.Unmapped() }); at >= 0 {
			s := samples[i]
			s.Frames = frames[at:]
			out = append(out, s)
		}
	}
	return out
}
