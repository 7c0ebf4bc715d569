package verifytest

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// MapObject adds the mapping of an object as jitinject does, with a build id if there
// is one.
func MapObject(r *testrec.Recording, time, addr, length, pgoff uint64, path string, id []byte) {
	if id == nil {
		r.Mmap2(PID, time, addr, length, pgoff, path)
		return
	}
	b := le.AppendUint32(le.AppendUint32(nil, PID), PID)
	for _, v := range []uint64{addr, length, pgoff} {
		b = le.AppendUint64(b, v)
	}
	b = append(append(b, byte(len(id)), 0, 0, 0), id...)
	b = append(b, make([]byte, 20-len(id))...)
	b = le.AppendUint32(le.AppendUint32(b, 5), 2)
	r.Kernel(10, 1<<14|2, append(append(b, path...), 0), PID, time)
}

// A World is a recording with an object.
type World struct {
	*testrec.Recording
	Path    string // of the object
	BuildID []byte
}

// NewWorld returns a recording, and an object beside it: that of ObjectBytes if none is given.
func NewWorld(t *testing.T, dir string, object []byte) *World {
	t.Helper()
	if object == nil {
		object = ObjectBytes(t)
	}
	w := &World{Recording: testrec.NewRecording(), Path: filepath.Join(dir, ObjectName)}
	w.SampleType |= testrec.ID
	Write(t, dir, ObjectName, object)
	w.BuildID = bytes.Clone(object[0x50:0x64])
	return w
}

// MapObject maps the object as it should be.
func (w *World) MapObject(time uint64) *World {
	MapObject(w.Recording, time, Base, 0x30, 0x80, w.Path, w.BuildID)
	return w
}
