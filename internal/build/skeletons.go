package build

import (
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/recording"
)

// A fileError is an error of reading the file of a skeleton.
type fileError struct {
	path string
	err  error
}

// Error returns the text of err, with the path.
func (e *fileError) Error() string { return e.path + ": " + e.err.Error() }

// skeleton makes the object for functions that lie in a file, the i-th of the plan.
func (m *maker) skeleton(w *Writer, i int, s *objstore.Store) error {
	o := &w.Plan.Objects[i]
	if err := m.enter(o.Dump); err != nil {
		return err
	}
	from := o.Bundle.Skeleton
	file, image, err := from.Rec.OpenRecorded(from.Map)
	if err == nil && image == nil {
		err = errors.New("it is no longer the recorded file")
	}
	if err != nil {
		return &fileError{from.Map.Name, err}
	}
	defer file.Close()
	if err := m.bundler.BeginSkeleton(o.Bundle.Region, jitobj.Image{ELF: image, Data: file, Start: from.Start()}); err != nil {
		return &fileError{from.Map.Name, err}
	}
	c := make(DumpCounts)
	if !m.addMembers(w, i, o.Bundle.Members, m.bundler.AddToSkeleton, func(d *model.Dump, fn *jitcode.Function) { c.of(d).countInFile(fn) }) {
		return errNoFunctions
	}
	draft, err := s.Draft(fmt.Sprintf("%s%d-%d", recording.ObjectPrefix, o.PID, i), m.mode)
	if err != nil {
		return err
	}
	defer draft.Abandon()
	obj, err := m.bundler.EndSkeleton(draft)
	if err != nil && !isWriting(err) {
		err = &fileError{from.Map.Name, err}
	}
	if err != nil {
		return err
	}
	return m.commit(i, o, draft, &obj, c)
}
