package inject

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jitinject/jitinject/internal/jitobj"
)

// Making bundles: in parts, side by side. Whoever makes the last part of a bundle
// joins them.

// partSize is how many functions a part has. What a bundle consists of depends on it.
const partSize = 512

// A bundleJob is a bundle that is being made.
type bundleJob struct {
	number int // of the object
	object *object
	store  *store

	mu     sync.Mutex // guards what follows
	file   *draft     // from the first part on
	parts  []*jitobj.Part
	left   int // parts that are not done
	told   told
	failed error // of writing
}

// A partJob is a part of it.
type partJob struct {
	*bundleJob
	part int
}

// bundleJobs returns the work that there is for bundles.
func (w *objectWriter) bundleJobs() (jobs []partJob) {
	for i := range w.plan.objects {
		o := &w.plan.objects[i]
		if o.bundle == nil {
			continue
		}
		n := (len(o.bundle.members) + partSize - 1) / partSize
		b := &bundleJob{number: i, object: o, store: w.stores[o.dump.objects], parts: make([]*jitobj.Part, n), left: n}
		w.bundles = append(w.bundles, b)
		for part := range n {
			jobs = append(jobs, partJob{b, part})
		}
	}
	return jobs
}

// abandonBundles removes the files of bundles that were not finished.
func (w *objectWriter) abandonBundles() {
	for _, b := range w.bundles {
		if b.file != nil {
			b.file.abandon()
		}
	}
}

// members returns the functions of a part.
func (p *partJob) members() []member {
	first := p.part * partSize
	return p.object.bundle.members[first:min(first+partSize, len(p.object.bundle.members))]
}

// bundlePart makes a part, and the bundle if it is the last one.
func (w *objectWriter) bundlePart(m *maker, p *partJob) {
	part, t, err := m.part(w, p)
	w.opts.Progress.add(int64(len(p.members())))
	var we *jitobj.WriteError
	if errors.As(err, &we) {
		err = &storeError{we}
	}
	b := p.bundleJob
	b.mu.Lock()
	b.parts[p.part] = part
	b.told.add(t)
	if b.failed == nil {
		b.failed = err
	}
	b.left--
	last := b.left == 0
	b.mu.Unlock()
	if !last {
		return
	}
	did, err := m.join(b)
	b.parts = nil
	if err != nil {
		if b.file != nil {
			b.file.abandon() // others may need the room
		}
		if err != errNoFunctions { // or else each of them has said why
			w.fail(b.number, len(b.object.bundle.members), err)
			for _, member := range b.object.bundle.members {
				w.lacks(b.object.dump, member.function)
			}
		}
	} else if did == created {
		m.created = append(m.created, createdFile{b.number, b.file.ino})
	}
}

// part makes a part of a bundle. A function that cannot be read is missing in it.
func (m *maker) part(w *objectWriter, p *partJob) (*jitobj.Part, told, error) {
	var t told
	if err := m.enter(p.object.dump); err != nil {
		return nil, t, err
	}
	file, err := p.open(m)
	if err != nil {
		return nil, t, err
	}
	if err := m.bundler.BeginPart(p.object.bundle.stretch, file); err != nil {
		return nil, t, err
	}
	some := false
	for _, member := range p.members() {
		fn, err := m.reader.Function(member.function)
		if err == nil {
			err = m.bundler.AddFunction(fn, member.addr)
		}
		if err != nil {
			w.fail(p.number, 1, err)
			w.lacks(p.object.dump, member.function)
			continue
		}
		if !member.again {
			t.count(fn, true)
		}
		some = true
	}
	part, err := m.bundler.EndPart()
	if !some {
		part = nil
	}
	return part, t, err
}

// open opens the bundle's file, if that has not been done.
func (b *bundleJob) open(m *maker) (*draft, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil && b.failed == nil {
		b.file, b.failed = b.store.draft(fmt.Sprintf("%s%d-%d", bundlePrefix, b.object.pid, b.number), m.mode)
	}
	return b.file, b.failed
}

// errNoFunctions says that none of a bundle's functions could be read.
var errNoFunctions = errors.New("no functions")

// join finishes a bundle of which all parts are there.
func (m *maker) join(b *bundleJob) (outcome, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	parts := slices.DeleteFunc(b.parts, func(p *jitobj.Part) bool { return p == nil })
	if len(parts) == 0 {
		return 0, errNoFunctions
	}
	if err := m.enter(b.object.dump); err != nil {
		return 0, err
	}
	o := b.object
	obj, err := m.bundler.Join(b.file, o.bundle.stretch, o.place(), parts)
	var we *jitobj.WriteError
	if errors.As(err, &we) {
		err = &storeError{we}
	}
	if err != nil {
		return 0, err
	}
	o.buildID, o.tables = obj.BuildID, obj.Tables
	did, err := b.file.commit(string(o.appendName(nil)))
	if err != nil {
		return 0, &storeError{err}
	}
	o.made = true
	m.finished(did, b.file.written)
	if !obj.Tables.Describe() {
		b.told.unplaced, b.told.sent, b.told.derived = b.told.sent+b.told.derived, 0, 0
	}
	m.tell(o.dump.number, b.told)
	return did, nil
}
