package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/wire"
)

// Captures of OpenJ9's metadata, and where a check of metadata begins, whatever it lies in.

// checkJ9 checks a capture of OpenJ9's metadata.
func checkJ9(ctx context.Context, r *reporter, path string, _ *Options) error {
	r.file, _, _ = j9meta.CapturePaths(path) // offsets are in it, whichever was named
	capture, err := j9meta.ReadCapture(r.file)
	if err != nil {
		r.result.Holds = "nothing"
		r.broken("j9/capture", -1, "%v", err)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.result.Holds = counted(len(capture.Metadata), "byte")
	body := decodeJ9(r, capture.Metadata, 0, capture.Base, capture.Layout)
	if body == nil {
		return nil
	}
	if start := body.Header.StartPC; start != capture.StartPC {
		r.broken("j9/capture-start", int64(5*body.Layout.PointerSize), "startPC is %#x; the JSON has %#x", start, capture.StartPC)
	}
	c := &j9Check{reporter: r, body: body}
	described := c.check()
	if described {
		c.captureCode(capture)
	}
	if described && len(capture.Methods) > 0 {
		methods := make([]j9Method, len(capture.Methods))
		for i, m := range capture.Methods {
			methods[i] = j9Method{at: -1, method: m.Method, class: m.Class, name: m.Name, signature: m.Signature, file: m.File}
			for _, l := range m.Lines {
				methods[i].lines = append(methods[i].lines, j9Line{l.ByteCodeIndex, l.Line})
			}
		}
		c.methods(methods)
	}
	maps := 0
	if body.Atlas != nil {
		maps = len(body.Atlas.Maps)
	}
	r.result.Holds += ", " + counted(len(body.Sites), "call site") + ", " + counted(maps, "map")
	return nil
}

// captureCode checks the files with code that a capture names.
func (c *j9Check) captureCode(capture *j9meta.Capture) {
	for _, err := range capture.CodeErrors {
		c.broken("j9/capture-code", -1, "%v", err)
	}
	if !c.code.known {
		return
	}
	for _, f := range []struct {
		key, path string
		code      []byte
		size      uint64
	}{{"code", capture.CodePath, capture.Code, c.code.warm}, {"cold_code", capture.ColdCodePath, capture.ColdCode, c.code.end - c.code.cold}} {
		if f.path != "" && uint64(len(f.code)) != f.size {
			c.broken("j9/capture-code", -1, "%s of the JSON names a file of %s, the metadata has %d", f.key, counted(len(f.code), "byte"), f.size)
		}
	}
}

// decodeJ9 decodes metadata at an offset of the file, and says what is wrong if that
// fails; it returns nil then.
func decodeJ9(r *reporter, blob []byte, at int64, base uint64, l j9meta.Layout) *j9meta.Body {
	if !sizedJ9(r, blob, at, l) {
		return nil
	}
	body, err := j9meta.Decode(blob, base, l)
	if l.HeaderSize != 0 {
		stated := l.HeaderSize
		l.HeaderSize = 0
		if inferred, ierr := j9meta.Decode(blob, base, l); ierr == nil && inferred.Layout.HeaderSize != stated {
			r.broken("j9/header-size", at, "the header has %d bytes, %d are stated", inferred.Layout.HeaderSize, stated)
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
		r.broken("j9/damaged", at, "%v", err)
	case slices.Contains(pointers, field.Field):
		r.broken("j9/section", at+field.Offset, "%s: %s: %s", field.Record, field.Field, field.Text)
	default:
		r.broken("j9/damaged", at+field.Offset, "%s: %s: %s", field.Record, field.Field, field.Text)
	}
	return nil
}

// isStubJ9 looks at the flags, a word of the size of a pointer.
func isStubJ9(blob []byte, at int, order binary.ByteOrder, pointer int) bool {
	if pointer == 8 && order == binary.ByteOrder(binary.BigEndian) {
		at += 4
	}
	return len(blob) >= at+4 && j9meta.Flags(order.Uint32(blob[at:]))&j9meta.IsStub != 0
}

// sizedJ9 checks the field size, and reports whether all of the metadata is there.
func sizedJ9(r *reporter, blob []byte, at int64, l j9meta.Layout) bool {
	field := 10*l.PointerSize + 12
	if len(blob) < field+4 {
		r.broken("j9/cut", at, "%s are less than a header", counted(len(blob), "byte"))
		return false
	}
	order := l.Order
	if order == nil {
		order = binary.LittleEndian
	}
	switch size := int64(int32(order.Uint32(blob[field:]))); {
	case isStubJ9(blob, field+4, order, l.PointerSize): // a copy of the header, with the size of what is gone
	case size > int64(len(blob)):
		r.broken("j9/cut", at+int64(field), "size is %d, and %s are there", size, counted(len(blob), "byte"))
		return false
	case size >= int64(field)+4 && size < int64(len(blob)):
		r.broken("j9/size", at+int64(field), "size is %d, and %s are there", size, counted(len(blob), "byte"))
	}
	return true
}
