package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/testrec"
)

type toyFunction struct{ Name, File, Line, Column, Flags uint32 }
type toyCall struct{ Depth, Ranges, Function, Line, Column uint32 }
type toyRange struct{ Start, Size uint32 }
type toyLine struct{ Offset, File, Line, Column uint32 }

// toyTree is a decoded DEBUG_INFO2.
type toyTree struct {
	files, names []string
	functions    []toyFunction
	calls        []toyCall
	ranges       []toyRange
	lines        []toyLine
}

func decodeToyTree(b []byte) (*toyTree, error) {
	r := bytes.NewReader(b)
	var head struct{ Files, FileBytes, Names, NameBytes, Functions, Calls, Ranges, Lines uint32 }
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return nil, err
	}
	texts := func(n, size uint32) ([]string, error) {
		text := make([]byte, size)
		if _, err := io.ReadFull(r, text); err != nil || size%4 != 0 {
			return nil, fmt.Errorf("a list of %d bytes: %v", size, err)
		}
		parts := strings.SplitAfterN(string(text), "\x00", int(n)+1)
		if len(parts) != int(n)+1 || len(parts[n]) > 3 || strings.Trim(parts[n], "\x00") != "" {
			return nil, fmt.Errorf("%d strings in %q", n, text)
		}
		for i := range parts {
			parts[i] = strings.TrimSuffix(parts[i], "\x00")
		}
		return parts[:n], nil
	}
	t := new(toyTree)
	var err error
	if t.files, err = texts(head.Files, head.FileBytes); err != nil {
		return nil, err
	}
	if t.names, err = texts(head.Names, head.NameBytes); err != nil {
		return nil, err
	}
	if max(head.Functions, head.Calls, head.Ranges, head.Lines) > uint32(len(b)) {
		return nil, fmt.Errorf("counts %+v in %d bytes", head, len(b))
	}
	t.functions, t.calls = make([]toyFunction, head.Functions), make([]toyCall, head.Calls)
	t.ranges, t.lines = make([]toyRange, head.Ranges), make([]toyLine, head.Lines)
	for _, list := range []any{t.functions, t.calls, t.ranges, t.lines} {
		if err := binary.Read(r, binary.LittleEndian, list); err != nil && binary.Size(list) > 0 {
			return nil, err
		}
	}
	if rest := b[len(b)-r.Len():]; len(rest) > 7 || len(bytes.Trim(rest, "\x00")) > 0 {
		return nil, fmt.Errorf("%d bytes behind the lines: % x", len(rest), rest)
	}
	return t, nil
}

// rangesOf returns the ranges of each call.
func (t *toyTree) rangesOf() (all [][]toyRange, err error) {
	rest := t.ranges
	for i, c := range t.calls {
		if c.Ranges == 0 || int(c.Ranges) > len(rest) {
			return nil, fmt.Errorf("call %d has %d ranges of %d", i, c.Ranges, len(rest))
		}
		all, rest = append(all, rest[:c.Ranges]), rest[c.Ranges:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d ranges belong to no call", len(rest))
	}
	return all, nil
}

// check holds a tree against every rule there is, for code of the given size.
func (t *toyTree) check(size uint32) error {
	ranges, err := t.rangesOf()
	if err != nil {
		return err
	}
	if len(t.functions) == 0 {
		return errors.New("no function")
	}
	for i, f := range t.functions {
		if int(f.Name) >= len(t.names) || int(f.File) >= len(t.files) || f.Line == 0 {
			return fmt.Errorf("function %d is %+v", i, f)
		}
		if want := map[bool]uint32{true: 1<<24 | 1, false: 1}[i == 0]; f.Flags != want {
			return fmt.Errorf("function %d has flags %#x, want %#x", i, f.Flags, want)
		}
	}
	around := []([]toyRange){{{0, size}}} // by depth
	taken := map[uint32][]toyRange{}
	for i, c := range t.calls {
		if int(c.Depth) >= len(around) || c.Depth > 255 || int(c.Function) >= len(t.functions) || c.Line == 0 {
			return fmt.Errorf("call %d is %+v, around it are %d", i, c, len(around)-1)
		}
		for _, r := range ranges[i] {
			if !slices.ContainsFunc(around[c.Depth], func(a toyRange) bool { return a.Start <= r.Start && r.Start+r.Size <= a.Start+a.Size }) {
				return fmt.Errorf("call %d: range %+v is in none of %+v", i, r, around[c.Depth])
			}
			for _, o := range taken[c.Depth] {
				if r.Size > 0 && o.Size > 0 && r.Start < o.Start+o.Size && o.Start < r.Start+r.Size {
					return fmt.Errorf("call %d: range %+v overlaps %+v of the same depth", i, r, o)
				}
			}
		}
		taken[c.Depth] = append(taken[c.Depth], ranges[i]...)
		around = append(around[:c.Depth+1], ranges[i])
	}
	for i, l := range t.lines {
		if l.Offset >= size || int(l.File) >= len(t.files) || l.Line == 0 || i > 0 && l.Offset <= t.lines[i-1].Offset {
			return fmt.Errorf("line %d is %+v", i, l)
		}
	}
	return nil
}

// stack returns what the lists say of an offset.
func (t *toyTree) stack(offset uint32) (stack []testrec.Frame) {
	var at toyLine
	for _, l := range t.lines {
		if l.Offset <= offset {
			at = l
		}
	}
	ranges, _ := t.rangesOf()
	var calls []toyCall // around the offset, the outermost first
	for i, c := range t.calls {
		if slices.ContainsFunc(ranges[i], func(r toyRange) bool { return r.Start <= offset && offset < r.Start+r.Size }) {
			calls = append(calls, c)
		}
	}
	file, line, column := t.files[at.File], at.Line, at.Column
	for i, c := range slices.Backward(calls) {
		fn := t.functions[c.Function]
		stack = append(stack, testrec.Frame{Function: t.names[fn.Name], File: file, Line: line, Column: column + 1})
		caller := t.functions[0]
		if i > 0 {
			caller = t.functions[calls[i-1].Function]
		}
		file, line, column = t.files[caller.File], c.Line, c.Column
	}
	return append(stack, testrec.Frame{Function: t.names[t.functions[0].Name], File: file, Line: line, Column: column + 1})
}
