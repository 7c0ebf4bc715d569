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
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
)

// A Writer makes the objects of a plan. The objects do not depend on the order in which workers
// process functions.
type Writer struct {
	Plan    *model.Plan
	Opts    *config.Options
	Stores  *objstore.Stores
	compDir string
	fill    map[*model.Dump]uint64            // see fillOf
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
	where string
	code  string // of the problem
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
	w := &Writer{Plan: p, Opts: opts, Stores: stores, compDir: sources.CompDir(), lacks: lacks, failed: make(map[failure]failures), fill: make(map[*model.Dump]uint64), result: Result{Dumps: make(DumpCounts)}}
	w.Created = make([]createdFile, 0, len(p.Objects))
	jobs := opts.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	for i := range p.Objects {
		if d := p.Objects[i].Dump; w.fill[d] == 0 {
			w.fill[d] = fillOf(d)
		}
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
	m := maker{Opts: w.Opts, CompDir: w.compDir, fill: w.fill, made: Result{Dumps: make(DumpCounts)}}
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
			var err error
			if o.Bundle == nil {
				alone++
				err = m.object(i, o, store)
			} else {
				alone += int64(len(o.Bundle.Members))
				err = m.skeleton(w, i, store)
			}
			if err != nil {
				w.failAll(i, err)
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
	Opts     *config.Options
	dump     *model.Dump
	reader   source.FunctionReader
	others   map[*model.Dump]source.FunctionReader // of dumps with functions in objects of dump
	builder  *jitobj.Builder
	bundler  *jitobj.Builder
	name     []byte
	mode     uint32                 // permissions of the dump's objects
	CompDir  string                 // compilation directory of the objects
	fill     map[*model.Dump]uint64 // see fillOf
	made     Result
	Created  []createdFile
	problems []report.Problem
}

// object makes the i-th object, of one function.
func (m *maker) object(i int, o *model.Object, s *objstore.Store) error {
	if err := m.enter(o.Dump); err != nil {
		return err
	}
	fn, err := m.reader.Function(int(o.Number))
	if err != nil {
		return err
	}
	builder := m.builder
	if o.HasMadeNumber() {
		builder = m.bundler
	}
	obj, err := builder.Build(fn, jitobj.Place{})
	if err != nil {
		return err
	}
	o.BuildID = obj.BuildID // for its name
	m.name = o.AppendName(m.name[:0])
	did, ino, err := s.Put(string(m.name), obj.Bytes, m.mode)
	if err != nil {
		return err
	}
	m.made.Dumps.of(o.Dump).count(fn, obj.Tables.Describe())
	m.finished(i, o, &obj, did, ino, int64(len(obj.Bytes)), nil)
	return nil
}

// finished records that the i-th object was made. size is in bytes, and c are the functions that are
// not counted yet.
func (m *maker) finished(i int, o *model.Object, obj *jitobj.Object, did objstore.Outcome, ino uint64, size int64, c DumpCounts) {
	o.BuildID, o.Made = obj.BuildID, true
	if o.Bundle != nil && o.Bundle.Placement != nil {
		o.Bundle.Placement.Tables = obj.Tables
	}
	m.made.Objects++
	m.made.Bytes += size
	switch did {
	case objstore.Created:
		m.Created = append(m.Created, createdFile{i, ino})
	case objstore.Unchanged:
		m.made.Unchanged++
	case objstore.Replaced:
		m.made.Replaced++
	}
	m.made.Dumps.merge(c)
}

// mostFill and fillPerByte bound the bytes in place of unknown code in all objects of a dump: by its size.
const (
	mostFill    = 16 << 20
	fillPerByte = 16
)

// fillOf bounds the bytes in place of the unknown code of one function of a dump. Maps and logs may claim any number
// of large functions. Readers that disassemble these bytes need a few.
func fillOf(d *model.Dump) uint64 {
	all, most, events := uint64(0), mostFill+fillPerByte*uint64(d.Bytes()), d.Source.Scanned().Events
	for i := range events {
		all += min(events[i].Size, jitobj.MaxFill)
	}
	if all <= most {
		return jitobj.MaxFill
	}
	return max(most/uint64(len(events)), 64)
}

// enter prepares m for objects of a dump.
func (m *maker) enter(d *model.Dump) (err error) {
	if d == m.dump {
		return nil
	}
	m.LeaveDump()
	opts := jitobj.Options{
		DWARF: m.Opts.DWARF, Producer: m.Opts.Producer, Tight: model.IsTight(d.Objects),
		Embed: m.Opts.EmbedSources, CompDir: m.CompDir, Fill: m.fill[d],
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
	m.dump, m.reader, m.mode = d, d.Functions(), mode
	return nil
}

// readerOf returns the reader of a dump with functions in an object.
func (m *maker) readerOf(d *model.Dump) source.FunctionReader {
	if d == m.dump {
		return m.reader
	}
	if m.others[d] == nil {
		if m.others == nil {
			m.others = make(map[*model.Dump]source.FunctionReader)
		}
		m.others[d] = d.Functions()
	}
	return m.others[d]
}

// modeOf returns the permissions of an object of the current dump: those that all dumps with functions
// in it have.
func (m *maker) modeOf(o *model.Object) (mode uint32, err error) {
	mode = m.mode
	for _, d := range o.Bundle.Others {
		other, err := objstore.Mode(d)
		if err != nil {
			return 0, err
		}
		mode &= other
	}
	return mode, nil
}

// place returns the place of the unwind tables of a bundle.
func place(b *model.Bundle) jitobj.Place {
	switch at := b.Placement; {
	case at == nil:
		return jitobj.Place{}
	case at.TablesAt == 0:
		return jitobj.Place{None: true}
	default:
		return jitobj.Place{Away: at.TablesAt - at.CodeAt, Room: at.Room}
	}
}

// LeaveDump collects the reader's problems.
func (m *maker) LeaveDump() {
	if m.reader == nil {
		return
	}
	take := func(d *model.Dump, r source.FunctionReader) {
		for _, p := range r.TakeProblems() {
			m.problems = append(m.problems, d.Damage(p.Offset, p.Text))
		}
	}
	take(m.dump, m.reader)
	for d, r := range m.others {
		take(d, r)
	}
	m.others = nil
}

// failAll records an error of the i-th object, which costs all of its functions.
func (w *Writer) failAll(i int, err error) {
	o := &w.Plan.Objects[i]
	if o.Bundle == nil {
		w.fail(i, o.Dump, err, int(o.Number))
		return
	}
	if err == errNoFunctions { // each function has reported its own error already
		return
	}
	functions := make(map[*model.Dump][]int)
	for _, member := range o.Bundle.Members {
		if !member.Frames {
			functions[member.Dump] = append(functions[member.Dump], int(member.Function))
		}
	}
	for _, d := range o.Dumps() {
		if len(functions[d]) > 0 {
			w.fail(i, d, err, functions[d]...)
		}
	}
}

// isWriting reports whether an error is one of writing an object, as opposed to one of its content.
func isWriting(err error) bool {
	return errors.As(err, new(*objstore.StoreError)) || errors.As(err, new(*jitobj.WriteError))
}

// fail records an error of the i-th object, which costs some functions of a dump.
func (w *Writer) fail(i int, d *model.Dump, err error, functions ...int) {
	o := &w.Plan.Objects[i]
	for _, function := range functions {
		w.lacks(d, function)
	}
	f := failure{d.Path, report.ProblemDamage}
	text, advice := err.Error(), d.AdviceDamage()
	var fe *fileError
	if errors.As(err, &fe) {
		f = failure{fe.path, report.ProblemUnreadable}
		text, advice = fe.err.Error(), "inject again"
	}
	if isWriting(err) {
		f = failure{o.Dump.Objects, report.ProblemNotWritten}
		text = safefile.WithoutPath(err).Error() // the path of a temporary file would not help
		if advice = report.AdviceStore(err); advice != report.AdviceRoom() {
			text = string(o.AppendName(nil)) + ": " + text
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.failed[f]
	if g.count == 0 || i < g.first {
		g.first, g.text, g.advice = i, text, advice
	}
	g.count += len(functions)
	w.failed[f] = g
}

// Merge adds the results of a worker to the writer's.
func (w *Writer) Merge(m *maker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.Objects += m.made.Objects
	w.result.Bytes += m.made.Bytes
	w.result.Unchanged += m.made.Unchanged
	w.result.Replaced += m.made.Replaced
	w.result.Dumps.merge(m.made.Dumps)
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
		if pids := left.pidsIn(f.where); f.code == report.ProblemNotWritten && len(pids) > 0 {
			text += "; " + report.LeftOutText(pids)
		}
		w.problems = append(w.problems, report.Problem{Code: f.code, File: f.where, Offset: -1, Text: text, Advice: g.advice})
	}
	sorting.By(w.problems, func(a, b report.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Text, b.Text))
	})
	more := make(map[string]int)
	for i, n := 0, 1; i < len(w.problems); i, n = i+n, 1 {
		p := w.problems[i]
		for ; p.Offset < 0 && i+n < len(w.problems) && w.problems[i+n] == p; n++ {
		}
		if n > 1 {
			p.Text += fmt.Sprintf(" (%d functions)", n)
		}
		if more[p.File]++; more[p.File] <= report.MaxProblems {
			w.result.Found.Problem(p)
		}
	}
	for _, d := range dumpsOf(w.Plan) {
		if n := more[d.Path] - report.MaxProblems; n > 0 {
			w.result.Found.Problem(d.MoreDamage(n))
		}
	}
	return w.result
}

// dumpsOf returns the dumps with objects in a plan, by number.
func dumpsOf(p *model.Plan) (dumps []*model.Dump) {
	seen := make(map[*model.Dump]bool)
	for i := range p.Objects {
		for _, d := range p.Objects[i].Dumps() {
			if !seen[d] {
				seen[d] = true
				dumps = append(dumps, d)
			}
		}
	}
	sorting.By(dumps, func(a, b *model.Dump) int { return cmp.Compare(a.Number, b.Number) })
	return dumps
}
