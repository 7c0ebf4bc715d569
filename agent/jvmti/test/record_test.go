package jvmti_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// The records are read here by what docs/formats/jitdump-extensions.md says, and
// not with the product's reader: a mistake that both share would not show.

const idDebugInfo2 jitdump.RecordID = 827346259

type function struct {
	name, file string
	startLine  uint32
	flags      uint32
}

type inlineCall struct {
	depth, line uint32
	function    *function
	ranges      [][2]uint32 // start, end
}

type lineRecord struct {
	offset, line uint32
	file         string
}

// A dumped is a function of a dump.
type dumped struct {
	jitdump.Load
	debug     bool
	functions []function
	calls     []inlineCall
	lines     []lineRecord
}

// readDump reads a whole dump, and fails the test if anything in it breaks a rule.
func readDump(t *testing.T, path string) []*dumped {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the dump's mode is %v", info.Mode())
	}
	r, err := jitdump.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if h := r.Header(); !strings.HasSuffix(path, fmt.Sprintf("/jit-%d.dump", h.PID)) || h.Version != 1 || h.Flags != 0 || h.Size() != 40 {
		t.Errorf("%s: header %+v", path, h)
	}
	var all []*dumped
	var pending []byte
	last := r.Header().Timestamp
	for r.Offset() < info.Size() {
		raw, err := r.Next()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if raw.Timestamp < last {
			t.Errorf("%s: offset %#x: time goes back", path, raw.Offset)
		}
		last = raw.Timestamp
		if pending != nil && raw.ID != jitdump.IDLoad {
			t.Errorf("%s: offset %#x: %v follows a DEBUG_INFO2", path, raw.Offset, raw.ID)
		}
		switch raw.ID {
		case idDebugInfo2:
			pending = append([]byte{}, raw.Body...)
		case jitdump.IDLoad:
			load, err := raw.Load()
			if err != nil {
				t.Fatal(err)
			}
			d := &dumped{Load: load}
			d.Name = append([]byte{}, load.Name...)
			d.Code = append([]byte{}, load.Code...)
			if load.CodeIndex != uint64(len(all)) || load.PID != r.Header().PID || load.VMA != load.CodeAddr || len(load.Name) == 0 {
				t.Errorf("%s: offset %#x: %+v", path, raw.Offset, load)
			}
			if pending != nil {
				if err := d.read(pending, raw.Order); err != nil {
					t.Errorf("%s: offset %#x: %s: %v", path, raw.Offset, load.Name, err)
				}
				d.debug = true
				pending = nil
			}
			all = append(all, d)
		case jitdump.IDClose:
			if r.Offset() != info.Size() {
				t.Errorf("%s: offset %#x: JIT_CODE_CLOSE is not the last record", path, raw.Offset)
			}
		default:
			t.Errorf("%s: offset %#x: %v", path, raw.Offset, raw.ID)
		}
	}
	return all
}

// stringList cuts a list of strings, which must be count, non-empty, and padded.
func stringList(b []byte, count uint32) ([]string, error) {
	list := strings.SplitAfter(string(b), "\x00")
	if len(b)%4 != 0 || uint32(len(list)) < count+1 {
		return nil, fmt.Errorf("a list of %d strings in %d bytes", count, len(b))
	}
	if pad := strings.Join(list[count:], ""); len(pad) > 3 || strings.Trim(pad, "\x00") != "" {
		return nil, fmt.Errorf("the padding of a list is %q", pad)
	}
	list = list[:count]
	seen := make(map[string]bool)
	for i := range list {
		list[i] = strings.TrimSuffix(list[i], "\x00")
		if list[i] == "" {
			return nil, fmt.Errorf("an empty string in a list")
		}
		seen[list[i]] = true
	}
	return list, nil
}

func (d *dumped) read(b []byte, order binary.ByteOrder) error {
	if len(b)%8 != 0 {
		return fmt.Errorf("%d bytes", len(b))
	}
	u32 := func() uint32 {
		v := order.Uint32(b)
		b = b[4:]
		return v
	}
	var head [8]uint32
	for i := range head {
		head[i] = u32()
	}
	size := uint64(head[1]) + uint64(head[3]) + 20*uint64(head[4]) + 20*uint64(head[5]) + 8*uint64(head[6]) + 16*uint64(head[7])
	if size > uint64(len(b)) || uint64(len(b)) > size+7 {
		return fmt.Errorf("lists of %d bytes in %d", size, len(b))
	}
	files, err := stringList(b[:head[1]], head[0])
	if err != nil {
		return err
	}
	b = b[head[1]:]
	names, err := stringList(b[:head[3]], head[2])
	if err != nil {
		return err
	}
	b = b[head[3]:]
	for range head[4] {
		name, file := u32(), u32()
		f := function{startLine: u32()}
		column := u32()
		f.flags = u32()
		if name >= head[2] || file >= head[0] || column != 0xffffffff || f.flags > 1 {
			return fmt.Errorf("function with name %d, file %d, column %d, flags %d", name, file, column, f.flags)
		}
		f.name, f.file = names[name], files[file]
		d.functions = append(d.functions, f)
	}
	if len(d.functions) == 0 || d.functions[0].name != string(d.Name) {
		return fmt.Errorf("the functions are %v", d.functions)
	}
	var counts []uint32
	for i := range head[5] {
		c := inlineCall{depth: u32()}
		counts = append(counts, u32())
		fn := u32()
		c.line = u32()
		column := u32()
		if fn >= head[4] || counts[i] == 0 || column != 0xffffffff || c.depth > 255 {
			return fmt.Errorf("call %d: depth %d, %d ranges, function %d, column %d", i, c.depth, counts[i], fn, column)
		}
		if i == 0 && c.depth != 0 || i > 0 && c.depth > d.calls[i-1].depth+1 {
			return fmt.Errorf("call %d has depth %d", i, c.depth)
		}
		c.function = &d.functions[fn]
		d.calls = append(d.calls, c)
	}
	left := head[6]
	for i := range d.calls {
		if left < counts[i] {
			return fmt.Errorf("ranges run out")
		}
		left -= counts[i]
		for range counts[i] {
			start, n := u32(), u32()
			d.calls[i].ranges = append(d.calls[i].ranges, [2]uint32{start, start + n})
		}
	}
	if left != 0 {
		return fmt.Errorf("%d ranges of no call", left)
	}
	for i := range head[7] {
		l := lineRecord{offset: u32()}
		file := u32()
		l.line = u32()
		column := u32()
		if file >= head[0] || column != 0xffffffff || uint64(l.offset) >= d.CodeSize || i > 0 && l.offset <= d.lines[i-1].offset {
			return fmt.Errorf("line %d: offset %#x, file %d, column %d", i, l.offset, file, column)
		}
		l.file = files[file]
		d.lines = append(d.lines, l)
	}
	if strings.Trim(string(b), "\x00") != "" {
		return fmt.Errorf("the padding is %q", b)
	}
	return d.checkRanges()
}

// checkRanges looks at the tree: ranges of one depth do not overlap, and each lies
// in one range of the call around it.
func (d *dumped) checkRanges() error {
	covered := make(map[uint32][]bool)
	var around [257][][2]uint32
	around[0] = [][2]uint32{{0, uint32(d.CodeSize)}}
	for i, c := range d.calls {
		around[c.depth+1] = c.ranges
		bytes := covered[c.depth]
		if bytes == nil {
			bytes = make([]bool, d.CodeSize)
			covered[c.depth] = bytes
		}
		for _, r := range c.ranges {
			inside := false
			for _, p := range around[c.depth] {
				inside = inside || p[0] <= r[0] && r[0] < r[1] && r[1] <= p[1]
			}
			if !inside {
				return fmt.Errorf("call %d, depth %d: range %v is in none of %v", i, c.depth, r, around[c.depth])
			}
			for b := r[0]; b < r[1]; b++ {
				if bytes[b] {
					return fmt.Errorf("call %d, depth %d: range %v overlaps another", i, c.depth, r)
				}
				bytes[b] = true
			}
		}
	}
	return nil
}

// A frame is a function and the line that it is at.
type frame struct {
	name, file string
	line       uint32
}

// stack returns the frames of the code at an offset, the compiled method first.
func (d *dumped) stack(offset uint32) []frame {
	frames := []frame{{name: d.functions[0].name, file: d.functions[0].file}}
	for _, c := range d.calls {
		if int(c.depth) != len(frames)-1 {
			continue
		}
		for _, r := range c.ranges {
			if r[0] <= offset && offset < r[1] {
				frames[len(frames)-1].line = c.line
				frames = append(frames, frame{name: c.function.name, file: c.function.file})
				break
			}
		}
	}
	here := &frames[len(frames)-1]
	for _, l := range d.lines {
		if l.offset <= offset {
			here.line, here.file = l.line, l.file
		}
	}
	return frames
}
