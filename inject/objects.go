package inject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/source"
)

// An objectWriter makes the objects of a plan. The order in which workers take
// functions does not show in anything they make.
type objectWriter struct {
	plan    *plan
	opts    *Options
	sum     *Summary
	stores  stores
	compDir string
	lacks   func(d *dump, function int) // is told of functions without an object
	next    atomic.Int64                // object of the plan that nobody has taken
	parts   []partJob
	part    atomic.Int64 // part of a bundle that nobody has taken
	bundles []*bundleJob

	mu       sync.Mutex // guards what follows, and sum
	failed   map[failure]failures
	problems []Problem
	created  []createdFile
}

// A failure groups errors of the same kind: a full disk fails thousands of files.
type failure struct {
	where   string
	writing bool
}

// failures are how often and what of.
type failures struct {
	count int
	first int    // the first object of the plan that failed
	text  string // why

	advice string
}

// batch is how many objects a worker takes at once.
const batch = 64

// makeObjects makes the objects of a plan. What single objects fail of is counted
// in the summary; it is an error if none could be made, unless that is for want of
// directories that nobody has named. The writer that it returns is there for undo.
func makeObjects(ctx context.Context, p *plan, stores stores, sources *sourceTree, lacks func(d *dump, function int), opts *Options, sum *Summary) (*objectWriter, error) {
	w := &objectWriter{plan: p, opts: opts, sum: sum, stores: stores, compDir: sources.compDir(), lacks: lacks, failed: make(map[failure]failures)}
	jobs := opts.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	w.parts = w.bundleJobs()
	defer w.abandonBundles()
	opts.Progress.begin(PhaseObjects, int64(p.functions()))
	group, ctx := errgroup.WithContext(ctx)
	for range min(jobs, 1+len(p.objects)/batch+len(w.parts)) {
		group.Go(func() error { return w.work(ctx) })
	}
	err := group.Wait()
	w.report()
	if err == nil && sum.Objects == 0 && len(p.objects) > 0 && (opts.Objects != "" || !w.lacksRoom()) {
		err = nothingToInject(sum.Problems)
	}
	return w, err
}

// A createdFile is an object whose file was not there before.
type createdFile struct {
	object int // of the plan
	ino    uint64
}

// undo removes the files that were not there before, where no other run can count on
// them. Those that were replaced stay: nothing that an earlier result refers to is lost
// with them. It returns what had to stay, in words.
func (w *objectWriter) undo() (left string) {
	may, stays := make(map[*store]bool), make(map[string]int)
	for _, s := range w.stores {
		may[s] = s.mayUndo()
	}
	w.opts.Progress.begin(PhaseUndo, int64(len(w.created)))
	for i, c := range w.created {
		if i%batch == 0 {
			w.opts.Progress.set(int64(i))
		}
		o := &w.plan.objects[c.object]
		if s := w.stores[o.dump.objects]; may[s] {
			s.takeBack(string(o.appendName(nil)), c.ino)
		} else {
			stays[o.dump.objects]++
		}
	}
	var parts []string
	for _, dir := range slices.Sorted(maps.Keys(stays)) {
		parts = append(parts, fmt.Sprintf("the %d objects that were made stay in %s, which another run uses", stays[dir], Printable(dir)))
	}
	return strings.Join(parts, "; ")
}

// work makes objects until there are none left.
func (w *objectWriter) work(ctx context.Context) error {
	m := maker{opts: w.opts, compDir: w.compDir}
	var dump *dump // at which m is
	var store *store
	for ctx.Err() == nil {
		i := int(w.part.Add(1)) - 1
		if i >= len(w.parts) {
			break
		}
		w.bundlePart(&m, &w.parts[i])
	}
	for ctx.Err() == nil {
		end := int(w.next.Add(batch))
		if end-batch >= len(w.plan.objects) {
			break
		}
		alone := int64(0) // functions that have an object of their own
		for i := end - batch; i < min(end, len(w.plan.objects)); i++ {
			o := &w.plan.objects[i]
			if o.bundle == nil {
				alone++
			}
			if o.bundle != nil { // made elsewhere
				continue
			}
			if o.dump != dump {
				dump, store = o.dump, w.stores[o.dump.objects]
			}
			did, err := m.object(o, store)
			if err != nil {
				w.fail(i, 1, err)
				w.lacks(o.dump, o.function)
				continue
			}
			if did == created {
				m.created = append(m.created, createdFile{i, m.ino})
			}
		}
		w.opts.Progress.add(alone)
	}
	m.leaveDump()
	w.merge(&m)
	return ctx.Err()
}

// A maker is one worker: a reader and a builder for the dump it is at, and what
// it has found so far.
type maker struct {
	opts      *Options
	dump      *dump
	reader    source.FunctionReader
	builder   *jitobj.Builder
	bundler   *jitobj.Builder
	name      []byte
	scratch   []byte
	mode      uint32       // of the dump's objects
	ino       uint64       // of the last object's file, if it was created
	compDir   string       // of the objects
	told      map[int]told // by dump
	made      int
	unchanged int
	replaced  int
	bytes     int64
	created   []createdFile
	problems  []Problem
}

// tightPrefix is how the paths of perf inject's objects begin, mostly.
const tightPrefix = "/tmp/jitted-"

// isTight reports whether perf takes the objects in a directory for perf inject's own,
// by their paths.
func isTight(dir string) bool { return dir == "/tmp" || strings.HasPrefix(dir, tightPrefix) }

// object makes one object.
func (m *maker) object(o *object, s *store) (outcome, error) {
	if err := m.enter(o.dump); err != nil {
		return 0, err
	}
	fn, err := m.reader.Function(o.function)
	if err != nil {
		return 0, err
	}
	obj, err := m.builder.Build(fn, o.place())
	if err != nil {
		return 0, err
	}
	m.name = o.appendName(m.name[:0])
	var did outcome
	if did, m.ino, m.scratch, err = s.put(string(m.name), obj.Bytes, m.scratch, m.mode); err != nil {
		return 0, &storeError{err}
	}
	o.buildID, o.tables, o.made = obj.BuildID, obj.Tables, true
	m.finished(did, int64(len(obj.Bytes)))
	var t told
	t.count(fn, obj.Tables.Describe())
	m.tell(o.dump.number, t)
	return did, nil
}

// finished counts an object.
func (m *maker) finished(did outcome, size int64) {
	m.made++
	m.bytes += size
	switch did {
	case unchanged:
		m.unchanged++
	case replaced:
		m.replaced++
	}
}

// enter makes m ready for objects of a dump.
func (m *maker) enter(d *dump) (err error) {
	if d == m.dump {
		return nil
	}
	m.leaveDump()
	opts := jitobj.Options{
		DWARF: m.opts.DWARF, Producer: m.opts.Producer, Tight: isTight(d.objects),
		Embed: m.opts.EmbedSources, CompDir: m.compDir,
	}
	if m.builder, err = jitobj.NewBuilder(d.source.Target(), opts); err != nil {
		return err
	}
	opts.Tight = false // see appendPath
	if m.bundler, err = jitobj.NewBuilder(d.source.Target(), opts); err != nil {
		return err
	}
	m.dump, m.reader, m.mode = d, d.source.Functions(), d.mode()
	return nil
}

// place returns where the object's unwind tables are to be.
func (o *object) place() jitobj.Place {
	switch {
	case !o.placed:
		return jitobj.Place{}
	case o.tablesAt == 0:
		return jitobj.Place{None: true}
	}
	return jitobj.Place{Away: o.tablesAt - o.codeAt, Room: o.room}
}

// told is how many functions of a dump say where their code comes from.
type told struct{ lines, inlines, sent, derived, unplaced, codeless int }

// count counts a function. unwound says that its object has unwind tables.
func (t *told) count(fn *jitcode.Function, unwound bool) {
	if len(fn.Lines) > 0 {
		t.lines++
	}
	if len(fn.Inlines) > 0 {
		t.inlines++
	}
	if !fn.HasCode() {
		t.codeless++
	}
	switch {
	case fn.Unwind.Empty():
	case !unwound:
		t.unplaced++
	case len(fn.Unwind.Sent.FDEs) > 0:
		t.sent++
	default:
		t.derived++
	}
}

func (t *told) add(o told) {
	t.lines += o.lines
	t.inlines += o.inlines
	t.sent += o.sent
	t.derived += o.derived
	t.unplaced += o.unplaced
	t.codeless += o.codeless
}

// tell adds to what is known of a dump.
func (m *maker) tell(dump int, t told) {
	if m.told == nil {
		m.told = make(map[int]told)
	}
	t.add(m.told[dump])
	m.told[dump] = t
}

// leaveDump collects what the reader complained about.
func (m *maker) leaveDump() {
	if m.reader == nil {
		return
	}
	for _, p := range m.reader.TakeProblems() {
		m.problems = append(m.problems, Problem{File: m.dump.path, Offset: p.Offset, Text: p.Text, Advice: adviceVerify(m.dump.path)})
	}
}

// A storeError is an error of writing, as opposed to one of reading a dump.
type storeError struct{ err error }

func (e *storeError) Error() string { return e.err.Error() }

// fail takes note of an error, which costs some functions of the i-th object.
func (w *objectWriter) fail(i, functions int, err error) {
	o := &w.plan.objects[i]
	f := failure{where: o.dump.path}
	text, advice := err.Error(), adviceVerify(o.dump.path)
	var se *storeError
	if errors.As(err, &se) {
		f = failure{o.dump.objects, true}
		text = withoutPath(se.err).Error() // not that of a temporary file
		if advice = adviceStore(se.err); advice != adviceRoom {
			text = string(o.appendName(nil)) + ": " + text
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.failed[f]
	if g.count == 0 || i < g.first {
		g.first, g.text, g.advice = i, text, advice
	}
	g.count += functions
	w.failed[f] = g
}

// merge adds what a worker has found to the whole.
func (w *objectWriter) merge(m *maker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sum.Objects += m.made
	w.sum.ObjectBytes += m.bytes
	w.sum.Unchanged += m.unchanged
	w.sum.Replaced += m.replaced
	for number, t := range m.told {
		w.sum.Dumps[number].WithLines += t.lines
		w.sum.Dumps[number].Codeless += t.codeless
		w.sum.Dumps[number].Inlining += t.inlines
		w.sum.Dumps[number].Unwind.Sent += t.sent
		w.sum.Dumps[number].Unwind.Derived += t.derived
		if n := t.unplaced; n > 0 {
			d := &w.sum.Dumps[number]
			d.Unwind.Unplaced += n
			d.Frames = fmt.Sprintf("for the unwind tables of %d functions there was no place within 2 GB behind their code; perf up to 6.12 may not find their callers", d.Unwind.Unplaced)
		}
	}
	w.problems = append(w.problems, m.problems...)
	w.created = append(w.created, m.created...)
}

// report puts problems into the summary, in an order that does not depend on the
// workers.
func (w *objectWriter) report() {
	what := "objects could not be made"
	if len(w.parts) > 0 {
		what = "functions have no object"
	}
	left := w.plan.leftOut()
	for f, g := range w.failed {
		text := fmt.Sprintf("%d %s: %s", g.count, what, g.text)
		if pids := left.pidsIn(f.where); f.writing && len(pids) > 0 {
			text += "; " + leftOutText(pids)
		}
		w.problems = append(w.problems, Problem{File: f.where, Offset: -1, Text: text, Advice: g.advice})
	}
	slices.SortFunc(w.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Text, b.Text))
	})
	more := make(map[string]int)
	for _, p := range w.problems {
		if more[p.File]++; more[p.File] <= maxProblems {
			w.sum.problem(p)
		}
	}
	for _, d := range w.sum.Dumps {
		if n := more[d.Path] - maxProblems; n > 0 {
			w.sum.problem(Problem{File: d.Path, Offset: -1, Text: fmt.Sprintf("%d more problems like these", n), Advice: adviceVerify(d.Path)})
		}
	}
}

// maxProblems bounds how many problems of one file are listed; the rest is only
// counted.
const maxProblems = 50
