package build

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

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/source"
)

// A Writer makes the objects of a plan. The objects do not depend on the order in which workers
// process functions.
type Writer struct {
	Plan    *model.Plan
	Opts    *config.Options
	Stores  *objstore.Stores
	compDir string
	lacks   func(d *model.Dump, function int) // called for functions without an object
	next    atomic.Int64                      // first unreserved object of the plan
	parts   []partJob
	part    atomic.Int64 // first unreserved part of a bundle
	bundles []*bundleJob

	mu       sync.Mutex // guards the following fields
	result   Result
	failed   map[failure]failures
	problems []report.Problem
	Created  []createdFile
}

// A failure groups errors of the same kind: a full disk fails thousands of files.
type failure struct {
	where   string
	writing bool
}

// failures are the count and the first example of a failure.
type failures struct {
	count int
	first int    // the first object of the plan that failed
	text  string // error text of that object

	advice string
}

// batch is how many objects a worker reserves at once.
const batch = 64

// ErrNothing says that none of the objects could be made.
var ErrNothing = errors.New("no object could be made")

// Make makes the objects of a plan, and returns the writer, which can undo them. Errors of single
// objects are in the result's findings. If no object could be made, Make returns ErrNothing. It
// returns no error if the reason is an unwritable directory that the user did not name. If ctx is
// cancelled, Make returns its error, and an empty result. Make calls lacks for each function without
// an object.
func Make(ctx context.Context, p *model.Plan, stores *objstore.Stores, sources *objstore.SourceTree, lacks func(d *model.Dump, function int), opts *config.Options) (*Writer, Result, error) {
	w := &Writer{Plan: p, Opts: opts, Stores: stores, compDir: sources.CompDir(), lacks: lacks, failed: make(map[failure]failures)}
	w.Created = make([]createdFile, 0, len(p.Objects))
	jobs := opts.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	w.parts = w.bundleJobs()
	defer w.abandonBundles()
	opts.Progress.Begin(report.PhaseObjects, int64(p.NumFunctions()))
	group, ctx := errgroup.WithContext(ctx)
	for range min(jobs, 1+len(p.Objects)/batch+len(w.parts)) {
		group.Go(func() error { return w.work(ctx) })
	}
	err := group.Wait()
	if err != nil {
		return w, Result{}, err
	}
	result := w.Report()
	if result.Objects == 0 && len(p.Objects) > 0 && (opts.Objects != "" || !w.lacksRoom()) {
		err = ErrNothing
	}
	return w, result, err
}

// A createdFile is an object without a file before this run.
type createdFile struct {
	Object int // number in the plan
	// inode number
	Ino uint64
}

// Undo removes the created files, unless another run may need them. Replaced files stay, so that
// earlier results keep their objects. left says in words which files had to stay; "" means none.
func (w *Writer) Undo() (left string) {
	w.Opts.Progress.Begin(report.PhaseUndo, int64(len(w.Created)))
	stays := make(map[string]int)
	for i, c := range w.Created {
		if i%batch == 0 {
			w.Opts.Progress.Set(int64(i))
		}
		o := &w.Plan.Objects[c.Object]
		if s := w.Stores.In(o.Dump.Objects); s.MayUndo() == nil {
			s.RemoveCreated(string(o.AppendName(nil)), c.Ino)
		} else {
			stays[o.Dump.Objects]++
		}
	}
	var parts []string
	for _, dir := range slices.Sorted(maps.Keys(stays)) {
		parts = append(parts, fmt.Sprintf("the %d objects that were made stay in %s: %v", stays[dir], quote.Printable(dir), w.Stores.In(dir).MayUndo()))
	}
	return strings.Join(parts, "; ")
}

// work makes objects until none are left.
func (w *Writer) work(ctx context.Context) error {
	m := maker{Opts: w.Opts, CompDir: w.compDir}
	var dump *model.Dump // dump that m has entered
	var store *objstore.Store
	for ctx.Err() == nil {
		i := int(w.part.Add(1)) - 1
		if i >= len(w.parts) {
			break
		}
		w.bundlePart(&m, &w.parts[i])
	}
	for ctx.Err() == nil {
		end := int(w.next.Add(batch))
		if end-batch >= len(w.Plan.Objects) {
			break
		}
		alone := int64(0) // functions with an object of their own
		for i := end - batch; i < min(end, len(w.Plan.Objects)); i++ {
			o := &w.Plan.Objects[i]
			if o.Bundle != nil && o.Bundle.Skeleton == nil { // made by bundlePart
				continue
			}
			if o.Dump != dump {
				dump, store = o.Dump, w.Stores.In(o.Dump.Objects)
			}
			if o.Bundle != nil {
				w.skeleton(&m, i, store)
				alone += int64(len(o.Bundle.Members))
				continue
			}
			alone++
			did, err := m.object(o, store)
			if err != nil {
				w.fail(i, 1, err)
				w.lacks(o.Dump, o.Function)
				continue
			}
			if did == objstore.Created {
				m.Created = append(m.Created, createdFile{i, m.Ino})
			}
		}
		w.Opts.Progress.Add(alone)
		w.keepCreated(&m)
	}
	m.LeaveDump()
	w.Merge(&m)
	return ctx.Err()
}

// A maker is one worker. It has a reader and a builder for its current dump, and the results so
// far.
type maker struct {
	Opts      *config.Options
	dump      *model.Dump
	reader    source.FunctionReader
	builder   *jitobj.Builder
	bundler   *jitobj.Builder
	name      []byte
	scratch   []byte
	mode      uint32         // permissions of the dump's objects
	Ino       uint64         // inode of the last object's file, if it was created
	CompDir   string         // compilation directory of the objects
	counts    map[int]Counts // by the dump's number
	made      int
	unchanged int
	replaced  int
	bytes     int64
	Created   []createdFile
	problems  []report.Problem
}

// object makes one object.
func (m *maker) object(o *model.Object, s *objstore.Store) (objstore.Outcome, error) {
	if err := m.enter(o.Dump); err != nil {
		return 0, err
	}
	fn, err := m.reader.Function(o.Function)
	if err != nil {
		return 0, err
	}
	builder := m.builder
	if o.HasMadeNumber() {
		builder = m.bundler
	}
	obj, err := builder.Build(fn, place(o))
	if err != nil {
		return 0, err
	}
	o.BuildID = obj.BuildID // for its name
	m.name = o.AppendName(m.name[:0])
	var did objstore.Outcome
	if did, m.Ino, m.scratch, err = s.Put(string(m.name), obj.Bytes, m.scratch, m.mode); err != nil {
		return 0, &objstore.StoreError{Err: err}
	}
	setMade(o, &obj)
	m.finished(did, int64(len(obj.Bytes)))
	var c Counts
	c.count(fn, obj.Tables.Describe())
	m.add(o.Dump.Number, c)
	return did, nil
}

// finished counts an object. size is in bytes.
func (m *maker) finished(did objstore.Outcome, size int64) {
	m.made++
	m.bytes += size
	switch did {
	case objstore.Unchanged:
		m.unchanged++
	case objstore.Replaced:
		m.replaced++
	}
}

// enter prepares m for objects of a dump.
func (m *maker) enter(d *model.Dump) (err error) {
	if d == m.dump {
		return nil
	}
	m.LeaveDump()
	opts := jitobj.Options{
		DWARF: m.Opts.DWARF, Producer: m.Opts.Producer, Tight: model.IsTight(d.Objects),
		Embed: m.Opts.EmbedSources, CompDir: m.CompDir,
	}
	if m.builder, err = jitobj.NewBuilder(d.Source.Target(), opts); err != nil {
		return err
	}
	opts.Tight = false // see model.Object.AppendPath
	if m.bundler, err = jitobj.NewBuilder(d.Source.Target(), opts); err != nil {
		return err
	}
	mode, err := objstore.Mode(d)
	if err != nil {
		return err
	}
	m.dump, m.reader, m.mode = d, d.Source.Functions(), mode
	return nil
}

// place returns the place of the object's unwind tables.
func place(o *model.Object) jitobj.Place {
	switch at := o.Placement; {
	case at == nil:
		return jitobj.Place{}
	case at.TablesAt == 0:
		return jitobj.Place{None: true}
	default:
		return jitobj.Place{Away: at.TablesAt - at.CodeAt, Room: at.Room}
	}
}

// setMade records that an object was made.
func setMade(o *model.Object, obj *jitobj.Object) {
	o.BuildID, o.Made = obj.BuildID, true
	if o.Placement != nil {
		o.Placement.Tables = obj.Tables
	}
}

// add adds to the counts of a dump.
func (m *maker) add(dump int, c Counts) {
	if m.counts == nil {
		m.counts = make(map[int]Counts)
	}
	c.add(m.counts[dump])
	m.counts[dump] = c
}

// LeaveDump collects the reader's problems.
func (m *maker) LeaveDump() {
	if m.reader == nil {
		return
	}
	for _, p := range m.reader.TakeProblems() {
		m.problems = append(m.problems, report.Problem{File: m.dump.Path, Offset: p.Offset, Text: p.Text, Advice: m.dump.AdviceDamage()})
	}
}

// fail records an error of the i-th object, which costs some functions.
func (w *Writer) fail(i, functions int, err error) {
	o := &w.Plan.Objects[i]
	f := failure{where: o.Dump.Path}
	text, advice := err.Error(), o.Dump.AdviceDamage()
	var fe *fileError
	if errors.As(err, &fe) {
		f.where, text, advice = fe.path, fe.err.Error(), "inject again"
	}
	var se *objstore.StoreError
	if errors.As(err, &se) {
		f = failure{o.Dump.Objects, true}
		text = safefile.WithoutPath(se.Err).Error() // the path of a temporary file would not help
		if advice = report.AdviceStore(se.Err); advice != report.AdviceRoom {
			text = string(o.AppendName(nil)) + ": " + text
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

// Merge adds the results of a worker to the writer's.
func (w *Writer) Merge(m *maker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.Objects += m.made
	w.result.Bytes += m.bytes
	w.result.Unchanged += m.unchanged
	w.result.Replaced += m.replaced
	for number, counts := range m.counts {
		w.result.add(number, counts)
	}
	w.problems = append(w.problems, m.problems...)
	w.Created = append(w.Created, m.Created...)
}

// keepCreated moves the files that a worker has created to the writer's.
func (w *Writer) keepCreated(m *maker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Created = append(w.Created, m.Created...)
	m.Created = m.Created[:0]
}

// Report returns the result, with the failures as problems. The order of problems does not depend
// on the workers.
func (w *Writer) Report() Result {
	what := "objects could not be made"
	if len(w.parts) > 0 {
		what = "functions have no object"
	}
	left := LeftOut(w.Plan)
	for f, g := range w.failed {
		text := fmt.Sprintf("%d %s: %s", g.count, what, g.text)
		if pids := left.pidsIn(f.where); f.writing && len(pids) > 0 {
			text += "; " + report.LeftOutText(pids)
		}
		w.problems = append(w.problems, report.Problem{File: f.where, Offset: -1, Text: text, Advice: g.advice})
	}
	slices.SortFunc(w.problems, func(a, b report.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Text, b.Text))
	})
	more := make(map[string]int)
	for _, p := range w.problems {
		if more[p.File]++; more[p.File] <= report.MaxProblems {
			w.result.Found.Problem(p)
		}
	}
	for _, d := range dumpsOf(w.Plan) {
		if n := more[d.Path] - report.MaxProblems; n > 0 {
			w.result.Found.Problem(report.Problem{File: d.Path, Offset: -1, Text: fmt.Sprintf("%d more problems like these", n), Advice: d.AdviceDamage()})
		}
	}
	return w.result
}

// dumpsOf returns the dumps with objects in a plan, by number.
func dumpsOf(p *model.Plan) (dumps []*model.Dump) {
	seen := make(map[*model.Dump]bool)
	for i := range p.Objects {
		if d := p.Objects[i].Dump; !seen[d] {
			seen[d] = true
			dumps = append(dumps, d)
		}
	}
	slices.SortFunc(dumps, func(a, b *model.Dump) int { return cmp.Compare(a.Number, b.Number) })
	return dumps
}
