package checkj9

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/wire"
)

// Captures of OpenJ9's metadata, and where a check of metadata begins, in any container.

// checkFile checks a capture of OpenJ9's metadata.
func checkFile(ctx context.Context, r *verify.Reporter, path string, _ *verify.Options) error {
	r.File, _, _ = j9meta.CapturePaths(path) // offsets are in it, whichever was named
	capture, err := j9meta.ReadCapture(r.File)
	if err != nil {
		r.Result.Holds = "nothing"
		r.Violation("j9/capture", -1, "%v", err)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.Result.Holds = verify.Counted(len(capture.Metadata), "byte")
	body := Decode(r, capture.Metadata, 0, capture.Base, capture.Layout)
	if body == nil {
		return nil
	}
	if start := body.Header.StartPC; start != capture.StartPC {
		r.Violation("j9/capture-start", int64(5*body.Layout.PointerSize), "startPC is %#x; the JSON has %#x", start, capture.StartPC)
	}
	c := &Metadata{Reporter: r, Body: body}
	described := c.Check()
	if described {
		c.captureCode(capture)
	}
	if described && len(capture.Methods) > 0 {
		methods := make([]Method, len(capture.Methods))
		for i, m := range capture.Methods {
			methods[i] = Method{At: -1, Address: m.Method, Class: m.Class, Name: m.Name, Signature: m.Signature, File: m.File}
			for _, l := range m.Lines {
				methods[i].Lines = append(methods[i].Lines, Line{l.ByteCodeIndex, l.Line})
			}
		}
		c.CheckMethods(methods)
	}
	maps := 0
	if body.Atlas != nil {
		maps = len(body.Atlas.Maps)
	}
	r.Result.Holds += ", " + verify.Counted(len(body.Sites), "call site") + ", " + verify.Counted(maps, "map")
	return nil
}

// captureCode checks the files with code that a capture names.
func (c *Metadata) captureCode(capture *j9meta.Capture) {
	for _, err := range capture.CodeErrors {
		c.Violation("j9/capture-code", -1, "%v", err)
	}
	if !c.Code.Known {
		return
	}
	for _, f := range []struct {
		key, path string
		code      []byte
		size      uint64
	}{{"code", capture.CodePath, capture.Code, c.Code.Warm}, {"cold_code", capture.ColdCodePath, capture.ColdCode, c.Code.end - c.Code.cold}} {
		if f.path != "" && uint64(len(f.code)) != f.size {
			c.Violation("j9/capture-code", -1, "%s of the JSON names a file of %s, the metadata has %d", f.key, verify.Counted(len(f.code), "byte"), f.size)
		}
	}
}

// Decode decodes metadata at an offset of the file, and says what is wrong if that
// fails; it returns nil then.
func Decode(r *verify.Reporter, blob []byte, at int64, base uint64, l j9meta.Layout) *j9meta.Body {
	if !sized(r, blob, at, l) {
		return nil
	}
	body, err := j9meta.Decode(blob, base, l)
	if l.HeaderSize != 0 {
		stated := l.HeaderSize
		l.HeaderSize = 0
		if inferred, ierr := j9meta.Decode(blob, base, l); ierr == nil && inferred.Layout.HeaderSize != stated {
			r.Violation("j9/header-size", at, "the header has %d bytes, %d are stated", inferred.Layout.HeaderSize, stated)
			body, err = inferred, nil
		}
	}
	if err == nil {
		return body
	}
	var field *wire.Error
	pointers := []string{"inlinedCalls", "gcStackAtlas", "stackAllocMap", "internalPointerMap", "osrInfo", "gpuCode", "riData", "invokeBasicCallInfo"}
	switch {
	case !errors.As(err, &field):
		r.Violation("j9/damaged", at, "%v", err)
	case slices.Contains(pointers, field.Field):
		r.Violation("j9/section", at+field.Offset, "%s: %s: %s", field.Record, field.Field, field.Text)
	default:
		r.Violation("j9/damaged", at+field.Offset, "%s: %s: %s", field.Record, field.Field, field.Text)
	}
	return nil
}

// isStub looks at the flags, a word of the size of a pointer.
func isStub(blob []byte, at int, order binary.ByteOrder, pointer int) bool {
	if pointer == 8 && order == binary.ByteOrder(binary.BigEndian) {
		at += 4
	}
	return len(blob) >= at+4 && j9meta.Flags(order.Uint32(blob[at:]))&j9meta.IsStub != 0
}

// sized checks the field size, and reports whether all of the metadata is there.
func sized(r *verify.Reporter, blob []byte, at int64, l j9meta.Layout) bool {
	field := 10*l.PointerSize + 12
	if len(blob) < field+4 {
		r.Violation("j9/cut", at, "%s are less than a header", verify.Counted(len(blob), "byte"))
		return false
	}
	order := l.Order
	if order == nil {
		order = binary.LittleEndian
	}
	switch size := int64(int32(order.Uint32(blob[field:]))); {
	case isStub(blob, field+4, order, l.PointerSize): // a copy of the header, with the size of what is gone
	case size > int64(len(blob)):
		r.Violation("j9/cut", at+int64(field), "size is %d, and %s are there", size, verify.Counted(len(blob), "byte"))
		return false
	case size >= int64(field)+4 && size < int64(len(blob)):
		r.Violation("j9/size", at+int64(field), "size is %d, and %s are there", size, verify.Counted(len(blob), "byte"))
	}
	return true
}
