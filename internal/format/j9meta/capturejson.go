package j9meta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// captureJSON is what is in the JSON.
type captureJSON struct {
	Base     *address            `json:"base"`
	StartPC  *address            `json:"startPC"`
	Machine  string              `json:"machine"`
	PID      uint32              `json:"pid"`
	Time     *uint64             `json:"time"`
	Code     string              `json:"code"`
	ColdCode string              `json:"cold_code"`
	Methods  []captureMethodJSON `json:"methods"`
}

type captureMethodJSON struct {
	Method    *address   `json:"method"`
	Class     string     `json:"class"`
	Name      string     `json:"name"`
	Signature string     `json:"signature"`
	File      string     `json:"file"`
	User      bool       `json:"user"`
	Lines     [][]uint32 `json:"lines"` // of two numbers each
}

// take takes in what the JSON says.
func (c *Capture) take(d *captureJSON) error {
	switch {
	case d.Base == nil:
		return errors.New(`it has no "base", the address of the metadata in the process`)
	case d.StartPC == nil:
		return errors.New(`it has no "startPC", the address of the body's first instruction`)
	}
	c.Base, c.StartPC = uint64(*d.Base), uint64(*d.StartPC)
	c.PID = d.PID
	if d.Time != nil {
		c.Time, c.HasTime = *d.Time, true
	}
	if err := c.layout(d.Machine); err != nil {
		return err
	}
	seen := make(map[uint64]int, len(d.Methods))
	c.Methods = make([]CaptureMethod, 0, len(d.Methods))
	for i := range d.Methods {
		m := &d.Methods[i]
		if m.Method == nil {
			return fmt.Errorf(`methods[%d] has no "method", the address of its J9Method`, i)
		}
		if first, ok := seen[uint64(*m.Method)]; ok {
			return fmt.Errorf("methods[%d] is method %#x, as methods[%d] is; a method is described once", i, uint64(*m.Method), first)
		}
		seen[uint64(*m.Method)] = i
		for _, f := range []struct{ key, text string }{{"class", m.Class}, {"name", m.Name}, {"signature", m.Signature}, {"file", m.File}} {
			if len(f.text) > maxCaptureName || strings.ContainsRune(f.text, 0) {
				return fmt.Errorf("methods[%d].%s is no name: it has %d bytes, or a NUL; names of class files have up to %d", i, f.key, len(f.text), maxCaptureName)
			}
		}
		method := CaptureMethod{Method: uint64(*m.Method), Class: m.Class, Name: m.Name, Signature: m.Signature, File: m.File, User: m.User, Lines: make([]CaptureLine, len(m.Lines))}
		for j, l := range m.Lines {
			if len(l) != 2 {
				return fmt.Errorf("methods[%d].lines[%d]: %d numbers; lines are pairs of a bytecode index and a line, [5, 1501]", i, j, len(l))
			}
			if j > 0 && l[0] <= m.Lines[j-1][0] {
				return fmt.Errorf("methods[%d].lines[%d]: bytecode index %d comes after %d; indexes must increase", i, j, l[0], m.Lines[j-1][0])
			}
			method.Lines[j] = CaptureLine{l[0], l[1]}
		}
		c.Methods = append(c.Methods, method)
	}
	return nil
}

// An address is a number, or a string with one in hexadecimal.
type address uint64

// UnmarshalJSON reads an address.
func (a *address) UnmarshalJSON(text []byte) error {
	s := string(text)
	if text[0] == '"' {
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
	}
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return fmt.Errorf("%q is no address; they are strings like \"0x7f8800001020\"", s)
	}
	*a = address(v)
	return nil
}

// jsonError says where in a text the error is.
func jsonError(text []byte, err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is no JSON: line %d: %w", lineAt(text, syntax.Offset), err)
	case errors.As(err, &typ) && typ.Field != "":
		return fmt.Errorf("line %d: %q is a JSON %s, and should be of type %v", lineAt(text, typ.Offset), typ.Field, typ.Value, typ.Type)
	case errors.As(err, &typ):
		return fmt.Errorf("it is a JSON %s, and should be an object with base and startPC", typ.Value)
	}
	return err
}

func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
}
