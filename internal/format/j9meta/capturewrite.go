package j9meta

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// Description returns what X.json says of a capture, as [ReadCapture] reads it. The layout is written
// where it is known. The fields that are files are not read: of CodePath and ColdCodePath only the
// last components count.
func (c *Capture) Description() ([]byte, error) {
	base, start := address(c.Base), address(c.StartPC)
	d := captureJSON{Base: &base, StartPC: &start, Epoch: c.Layout.HeaderSize, PointerSize: c.Layout.PointerSize, PID: c.PID}
	switch c.Layout.Order {
	case nil:
	case binary.BigEndian:
		d.ByteOrder = "big"
	default:
		d.ByteOrder = "little"
	}
	d.Machine = c.Layout.MachineName()
	if c.Layout.Machine != 0 && d.Machine == "" {
		return nil, fmt.Errorf("captures have no name for %v with pointers of %d bytes, %v", c.Layout.Machine, c.Layout.PointerSize, c.Layout.Order)
	}
	if c.HasTime {
		d.Time = &c.Time
	}
	for _, f := range []struct {
		path string
		name *string
	}{{c.CodePath, &d.Code}, {c.ColdCodePath, &d.ColdCode}} {
		if f.path != "" {
			*f.name = filepath.Base(f.path)
		}
	}
	for i := range c.Methods {
		m := &c.Methods[i]
		method := address(m.Method)
		j := captureMethodJSON{Method: &method, Class: m.Class, Name: m.Name, Signature: m.Signature, File: m.File, User: m.User}
		for _, l := range m.Lines {
			j.Lines = append(j.Lines, []uint32{l.ByteCodeIndex, l.Line})
		}
		d.Methods = append(d.Methods, j)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // <init>
	e.SetIndent("", "  ")
	err := e.Encode(&d)
	return b.Bytes(), err
}
