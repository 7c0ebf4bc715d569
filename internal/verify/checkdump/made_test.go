package checkdump_test

import (
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/verify"
)

// A dump is one that is made byte by byte.
type dump struct {
	b    []byte
	time uint64
	next uint64 // code_index
}

func newDump() *dump {
	d := &dump{time: 5_000_000}
	for _, v := range []uint32{0x4A695444, 1, 40, 62, 0, dumpPID} {
		d.b = le.AppendUint32(d.b, v)
	}
	d.b = le.AppendUint64(d.b, d.time)
	d.b = le.AppendUint64(d.b, 0)
	return d
}

// record adds a record, whose fields are numbers of their own size, strings (with a
// NUL) and bytes.
func (d *dump) record(id uint32, fields ...any) *dump {
	var body []byte
	for _, f := range fields {
		switch v := f.(type) {
		case string:
			body = append(append(body, v...), 0)
		case []byte:
			body = append(body, v...)
		default:
			body, _ = binary.Append(body, le, v)
		}
	}
	d.time += 100
	d.b = le.AppendUint32(d.b, id)
	d.b = le.AppendUint32(d.b, uint32(16+len(body)))
	d.b = le.AppendUint64(d.b, d.time)
	d.b = append(d.b, body...)
	return d
}

func (d *dump) load(addr u64, name string) *dump { return d.loadIndex(d.next, addr, name, code()) }

func (d *dump) loadIndex(index, addr u64, name string, code []byte) *dump {
	d.next = index + 1
	return d.record(0, u32(dumpPID), u32(dumpPID), addr, addr, u64(len(code)), index, name, code)
}

func (d *dump) move(index, from, to, size u64) *dump {
	return d.record(1, u32(dumpPID), u32(dumpPID), to, from, to, size, index)
}

// An entry is one of a debug record.
type entry struct {
	addr u64
	line u32
	name string
}

func (d *dump) lines(addr u64, entries ...entry) *dump {
	fields := []any{addr, u64(len(entries))}
	for _, e := range entries {
		fields = append(fields, e.addr, e.line, u32(1), e.name)
	}
	return d.record(2, fields...)
}

// unwindData returns .eh_frame and .eh_frame_hdr for size bytes of code, for the place
// at the next multiple of 8 behind them.
func unwindData(size int) (frames, header []byte) {
	// CIE: version 1, "zR", code 1, data -8, ra 16, pcrel|sdata4; CFA is rsp+8, ra at -8.
	// FDE: as in Code, the CFA is rsp+16 after push rbp, and rbp+16 after mov rbp, rsp.
	frames = le.AppendUint32(nil, 20)
	frames = append(frames, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0)
	frames = append(le.AppendUint32(frames, 20), 28, 0, 0, 0)
	behind := (size + 7) &^ 7
	frames = le.AppendUint32(frames, uint32(-int32(behind+len(frames))))
	frames = append(le.AppendUint32(frames, uint32(size)), 0, 0x41, 0x0e, 16, 0x43, 0x0d, 6, 0)
	frames = append(frames, 0, 0, 0, 0)
	header = []byte{1, 0x1b, 3, 0x3b}
	header = le.AppendUint32(header, uint32(-int32(len(frames)+4)))
	header = le.AppendUint32(header, 1)
	header = le.AppendUint32(header, uint32(-int32(behind+len(frames))))
	header = le.AppendUint32(header, uint32(-int32(len(frames)-24)))
	return frames, header
}

func (d *dump) unwind(data []byte, header, mapped int) *dump {
	return d.record(4, u64(len(data)), u64(header), u64(mapped), data)
}

func (d *dump) goodUnwind() *dump {
	frames, header := unwindData(len(code()))
	return d.unwind(append(frames, header...), len(header), 0)
}

// tree adds a SAMPLY_JIT_CODE_DEBUG_INFO2 of one function with one inlined call.
func (d *dump) tree(change func(t *tree)) *dump {
	t := &tree{name: "poly", flags: 1, start: 4, size: 8, line: 4}
	if change != nil {
		change(t)
	}
	return d.record(827346259, u32(1), u32(8), u32(2), u32(len(t.name)+1+7+t.pad()), u32(2), u32(1), u32(1), u32(3),
		[]byte("math.to\x00"), t.name, []byte("square\x00"), make([]byte, t.pad()),
		u32(0), u32(0), u32(1), u32(0), t.flags, u32(1), u32(0), u32(8), u32(0), t.innerFlags,
		u32(0), u32(1), u32(1), u32(3), u32(8),
		t.start, t.size,
		u32(0), u32(0), u32(2), u32(0), t.line, u32(0), u32(9), u32(4), u32(0xc), u32(0), u32(3), u32(0), t.extra)
}

type tree struct {
	name              string
	flags, innerFlags u32
	start, size, line u32
	extra             []byte
}

func (t *tree) pad() int { return -(len(t.name) + 1 + 7) & 3 }

func (d *dump) file(t *testing.T, dir string) (string, verify.Options) {
	t.Helper()
	return write(t, dir, "jit-4711.dump", d.b), verify.Options{}
}

// full returns a dump with everything in it and nothing wrong.
func full() *dump {
	d := newDump().record(827346260, u32(1), u32(2), "Baseline", make([]byte, 3))
	a := dumpBase
	d.lines(a, entry{a, 1, "/a.js"}, entry{a + 4, 2, "\xff"}, entry{a + 0x30, 2, "\xff"}).goodUnwind().load(a, "first")
	d.record(827346261, u64(4), "math.to", []byte("text"), make([]byte, 4))
	d.tree(func(t *tree) { t.flags |= 1 << 24 }).load(a+0x100, "poly")
	d.move(d.next-1, a+0x100, a+0x200, 0x30)
	return d.load(a, "again in its place").record(3)
}

func goodDump(t *testing.T, dir string) (string, verify.Options) { return full().file(t, dir) }
