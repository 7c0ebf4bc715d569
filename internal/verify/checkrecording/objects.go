package checkrecording

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkobject"
	"github.com/jitinject/jitinject/perfdata"
)

// checkObjects checks the objects of the recording, in the order of their paths.
func (c *checker) checkObjects(ctx context.Context) error {
	table, err := c.buildIDs()
	if err != nil || len(c.objects) == 0 {
		return err
	}
	objects := make([]*mappedObject, 0, len(c.objects))
	for _, o := range c.objects {
		objects = append(objects, o)
	}
	sorting.By(objects, func(a, b *mappedObject) int { return cmp.Compare(a.path, b.path) })
	own := c.File
	defer func() { c.File = own }()
	for _, o := range objects {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.File = own
		c.object(ctx, o, table[o.path])
	}
	return nil
}

// buildIDs returns the build ids in the recording's table, by path.
func (c *checker) buildIDs() (map[string][]byte, error) {
	f := c.rec.Header.Feature(perfdata.FeatureBuildID)
	if f == nil {
		return nil, nil
	}
	table, err := f.Bytes()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) { // else the file is cut
		return nil, err
	}
	_, at, _ := f.Content.Outer()
	ids := make(map[string][]byte)
	for e, err := range perfdata.BuildIDs(c.rec.Order, table) {
		if err != nil {
			if at += verify.FaultAt(err, 0); c.rec.Header.IsPipe {
				at = -1
			}
			c.Violation("recording/header", at, "%v", err)
			break
		}
		if name := string(e.Filename); c.objects[name] != nil {
			ids[name] = e.BuildID
		}
	}
	return ids, nil
}

// object checks one object: the file, and what the recording says of it.
func (c *checker) object(ctx context.Context, o *mappedObject, listed []byte) {
	first := &o.mappings[0]
	st, err := sys.Lstat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Violation("recording/object-missing", first.at, "%s is not there", verify.Quoted(o.path))
		return
	case err != nil:
		c.Violation("recording/object-missing", first.at, "%s: %v", verify.Quoted(o.path), verify.PlainError(err))
		return
	case !st.Mode().IsRegular():
		c.Violation("recording/object-file", first.at, "%s is no regular file", verify.Quoted(o.path))
		return
	}
	e := c.checked[sys.InodeOf(st)]
	if e == nil {
		f, err := sys.Open(o.path)
		if err != nil {
			c.Violation("recording/object-missing", first.at, "%s: %v", verify.Quoted(o.path), verify.PlainError(err))
			return
		}
		defer f.Close()
		own := c.File
		c.File = o.path
		e = checkobject.Check(ctx, c.Reporter, f, st.Size(), o.path, true)
		c.File, c.checked[sys.InodeOf(st)] = own, e
	}
	if e.ELF == nil {
		return
	}
	o.usable = c.compareIDs(o, e.BuildID, listed)
	c.ranges(o, e)
}

// compareIDs checks what the recording says of an object's build id, and reports whether it is not
// another one.
func (c *checker) compareIDs(o *mappedObject, id, listed []byte) bool {
	first := &o.mappings[0]
	if len(listed) > 0 && !sameID(listed, id) {
		c.Violation("recording/build-id", -1, "%s has the build id %x, the recording's table has %x", verify.Quoted(o.path), id, listed)
		return false
	}
	for i := range o.mappings {
		m := &o.mappings[i]
		if told := m.id[:m.idSize]; len(told) > 0 && !sameID(told, id) {
			c.Violation("recording/build-id", m.at, "%s has the build id %x, the mapping has %x", verify.Quoted(o.path), id, told)
			return false
		}
	}
	if len(listed) == 0 && first.idSize == 0 {
		c.Violation("recording/build-id-missing", first.at, "neither the mapping of %s nor the recording's table has a build id", verify.Quoted(o.path))
	}
	return true
}

// sameID compares build ids: perf keeps up to 20 bytes, and may fill them with zeros.
func sameID(a, b []byte) bool {
	trim := func(id []byte) []byte { return bytes.TrimRight(id[:min(len(id), 20)], "\x00") }
	return bytes.Equal(trim(a), trim(b))
}

// ranges checks what the mappings of an object show. They begin in its code, or are the
// unwind tables, or lie in the file's head; behind the code they may show as much as the runtime had there of its
// own tables.
func (c *checker) ranges(o *mappedObject, e *checkobject.Object) {
	if e.Text == nil {
		return
	}
	text := &e.Text.SectionHeader
	for i := range o.mappings {
		m := &o.mappings[i]
		end := m.pgoff + m.len
		switch {
		case end < m.pgoff, m.len == 0:
			c.Violation("recording/object-range", m.at, "a mapping of %d bytes of %s from %#x", m.len, verify.Quoted(o.path), m.pgoff)
		case e.Tables.Size > 0 && m.pgoff == e.Tables.Offset:
			if end > e.Tables.Offset+e.Tables.Size {
				c.Violation("recording/object-range", m.at, "the mapping shows %#x to %#x of %s; its unwind tables end at %#x", m.pgoff, end, verify.Quoted(o.path), e.Tables.Offset+e.Tables.Size)
			}
		case m.pgoff == 0 && end <= text.Offset: // the head, which hotspot needs before parts of a bundle
		case m.pgoff < text.Offset || m.pgoff >= text.Offset+max(text.Size, 1) || end > uint64(max(e.Size, int64(text.Offset+text.Size+7))):
			c.Violation("recording/object-range", m.at, "the mapping shows %#x to %#x of %s; its code is at %#x to %#x", m.pgoff, end, verify.Quoted(o.path), text.Offset, text.Offset+text.Size)
		case !e.HasSymbol(text.Addr+m.pgoff-text.Offset, m.len):
			c.Violation("recording/object-symbol", m.at, "%s has no symbol of a function in %#x to %#x", verify.Quoted(o.path), m.pgoff, end)
		}
	}
}
