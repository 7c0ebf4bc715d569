package build

import (
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/recording"
)

// skeleton makes the object for functions that lie in a file, the i-th of the plan.
func (w *Writer) skeleton(m *maker, i int, s *objstore.Store) {
	o := &w.Plan.Objects[i]
	did, ino, err := m.skeleton(w, i, s)
	switch {
	case err == errNoFunctions: // each function has reported its own error already
	case err != nil:
		w.fail(i, len(o.Bundle.Members), err)
		for _, member := range o.Bundle.Members {
			w.lacks(o.Dump, int(member.Function))
		}
	case did == objstore.Created:
		m.Created = append(m.Created, createdFile{i, ino})
	}
}

// A fileError is an error of reading the file of a skeleton.
type fileError struct {
	path string
	err  error
}

// Error returns the text of err, with the path.
func (e *fileError) Error() string { return e.path + ": " + e.err.Error() }

// skeleton makes the object, and returns the inode of its file.
func (m *maker) skeleton(w *Writer, i int, s *objstore.Store) (did objstore.Outcome, ino uint64, err error) {
	o := &w.Plan.Objects[i]
	if err := m.enter(o.Dump); err != nil {
		return 0, 0, err
	}
	from := o.Bundle.Skeleton
	file, image, err := from.Rec.OpenRecorded(from.Map)
	if err == nil && image == nil {
		err = errors.New("it is no longer the recorded file")
	}
	if err != nil {
		return 0, 0, &fileError{from.Map.Name, err}
	}
	defer file.Close()
	if err := m.bundler.BeginSkeleton(o.Bundle.Region, jitobj.Image{ELF: image, Data: file, Start: from.Start()}); err != nil {
		return 0, 0, &fileError{from.Map.Name, err}
	}
	var c Counts
	some := false
	for _, member := range o.Bundle.Members {
		fn, err := m.reader.Function(int(member.Function))
		if err == nil {
			err = m.bundler.AddToSkeleton(fn, member.Addr)
		}
		if err != nil {
			w.fail(i, 1, err)
			w.lacks(o.Dump, int(member.Function))
			continue
		}
		some = true
		if !member.Again {
			c.countInFile(fn)
		}
	}
	if !some {
		return 0, 0, errNoFunctions
	}
	draft, err := s.Draft(fmt.Sprintf("%s%d-%d", recording.ObjectPrefix, o.PID, i), m.mode)
	if err != nil {
		return 0, 0, err
	}
	defer draft.Abandon()
	obj, err := m.bundler.EndSkeleton(draft)
	if we := (*jitobj.WriteError)(nil); errors.As(err, &we) {
		return 0, 0, &objstore.StoreError{Err: we}
	} else if err != nil {
		return 0, 0, &fileError{from.Map.Name, err}
	}
	o.BuildID = obj.BuildID // for its name
	if did, err = draft.Commit(string(o.AppendName(nil))); err != nil {
		return 0, 0, &objstore.StoreError{Err: err}
	}
	setMade(o, &obj)
	m.finished(did, draft.Written)
	m.add(o.Dump.Number, c)
	return did, draft.Ino, nil
}
