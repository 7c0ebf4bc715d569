package build

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/recording"
)

// Bundles are made in parts, by several workers at once. The worker that makes the last part of a
// bundle joins the parts.

// partSize is the number of functions of a part. The content of a bundle depends on it.
const partSize = 512

// A bundleJob is a bundle in the making.
type bundleJob struct {
	number int // of the object in the plan
	object *model.Object
	store  *objstore.Store

	mu     sync.Mutex      // guards the following fields
	file   *objstore.Draft // nil before the first part
	parts  []*jitobj.Part
	left   int // number of unfinished parts
	counts DumpCounts
	failed error // error of writing
}

// A partJob is a part of a bundle.
type partJob struct {
	*bundleJob
	part int
}

// bundleJobs returns the parts of all bundles of the plan.
func (w *Writer) bundleJobs() (jobs []partJob) {
	for i := range w.Plan.Objects {
		o := &w.Plan.Objects[i]
		if o.Bundle == nil || o.Bundle.Skeleton != nil {
			continue
		}
		n := (len(o.Bundle.Members) + partSize - 1) / partSize
		b := &bundleJob{number: i, object: o, store: w.Stores.In(o.Dump.Objects), parts: make([]*jitobj.Part, n), left: n, counts: make(DumpCounts)}
		w.bundles = append(w.bundles, b)
		for part := range n {
			jobs = append(jobs, partJob{b, part})
		}
	}
	return jobs
}

// abandonBundles removes the files of unfinished bundles.
func (w *Writer) abandonBundles() {
	for _, b := range w.bundles {
		if b.file != nil {
			b.file.Abandon()
		}
	}
}

// members returns the functions of a part.
func (p *partJob) members() []model.Member {
	first := p.part * partSize
	return p.object.Bundle.Members[first:min(first+partSize, len(p.object.Bundle.Members))]
}

// bundlePart makes a part. If it is the last one, bundlePart makes the bundle too.
func (w *Writer) bundlePart(m *maker, p *partJob) {
	part, t, err := m.part(w, p)
	w.Opts.Progress.Add(int64(len(p.members())))
	b := p.bundleJob
	b.mu.Lock()
	b.parts[p.part] = part
	b.counts.merge(t)
	if b.failed == nil {
		b.failed = err
	}
	b.left--
	last := b.left == 0
	b.mu.Unlock()
	if !last {
		return
	}
	err = m.join(b)
	b.parts = nil
	if err != nil {
		if b.file != nil {
			b.file.Abandon() // free the space early: other objects may need it
		}
		w.failAll(b.number, err)
	}
}

// part makes a part of a bundle. It omits functions that cannot be read.
func (m *maker) part(w *Writer, p *partJob) (*jitobj.Part, DumpCounts, error) {
	t := make(DumpCounts)
	if err := m.enter(p.object.Dump); err != nil {
		return nil, t, err
	}
	file, err := p.open(m)
	if err != nil {
		return nil, t, err
	}
	if err := m.bundler.BeginPart(p.object.Bundle.Region, file); err != nil {
		return nil, t, err
	}
	some := m.addMembers(w, p.number, p.members(), m.bundler.AddFunction, func(d *model.Dump, fn *jitcode.Function) { t.of(d).count(fn, true) })
	part, err := m.bundler.EndPart()
	if !some {
		part = nil
	}
	return part, t, err
}

// addMembers reads functions of the i-th object and adds them. It omits those that cannot be read, and counts
// those that no earlier object has. It reports whether any was added.
func (m *maker) addMembers(w *Writer, i int, members []model.Member, add func(fn *jitcode.Function, addr uint64) error, count func(*model.Dump, *jitcode.Function)) (some bool) {
	for _, member := range members {
		fn, err := m.readerOf(member.Dump).Function(int(member.Function))
		if member.Frames { // its own object reports errors
			some = err == nil && m.bundler.AddFrames(fn, member.Addr) == nil || some
			continue
		}
		if err == nil {
			err = add(fn, member.Addr)
		}
		if err != nil {
			w.fail(i, member.Dump, err, int(member.Function))
			continue
		}
		some = true
		if !member.Again {
			count(member.Dump, fn)
		}
	}
	return some
}

// open returns the bundle's file, and opens it at the first call.
func (b *bundleJob) open(m *maker) (*objstore.Draft, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil && b.failed == nil {
		mode, err := m.modeOf(b.object)
		if err != nil {
			return nil, err
		}
		b.file, b.failed = b.store.Draft(fmt.Sprintf("%s%d-%d", recording.ObjectPrefix, b.object.PID, b.number), mode)
	}
	return b.file, b.failed
}

// errNoFunctions says that none of a bundle's functions could be read.
var errNoFunctions = errors.New("no functions")

// join finishes a bundle after all its parts were made.
func (m *maker) join(b *bundleJob) error {
	if b.failed != nil {
		return b.failed
	}
	parts := slices.DeleteFunc(b.parts, func(p *jitobj.Part) bool { return p == nil })
	if len(parts) == 0 {
		return errNoFunctions
	}
	if err := m.enter(b.object.Dump); err != nil {
		return err
	}
	obj, err := m.bundler.Join(b.file, b.object.Bundle.Region, place(b.object.Bundle), parts)
	if err != nil {
		return err
	}
	if !obj.Tables.Describe() {
		for _, c := range b.counts {
			c.unplaced, c.sent, c.derived = c.sent+c.derived, 0, 0
		}
	}
	return m.commit(b.number, b.object, b.file, &obj, b.counts)
}

// commit gives the file of several functions, the i-th object, its name.
func (m *maker) commit(i int, o *model.Object, file *objstore.Draft, obj *jitobj.Object, c DumpCounts) error {
	o.BuildID = obj.BuildID // for its name
	did, err := file.Commit(string(o.AppendName(nil)))
	if err == nil {
		m.finished(i, o, obj, did, file.Ino, file.Written, c)
	}
	return err
}
