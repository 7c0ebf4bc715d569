package checkdump_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

// TestBigEndian: a dump of another byte order is as good.
func TestBigEndian(t *testing.T) {
	swapped, err := testrec.SwapDump(full().b)
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, t.TempDir(), "jit-4711.dump", swapped)
	if rules, all := verified(t, path, verify.Options{}); len(rules) > 0 {
		t.Errorf("%v: %+v", rules, all)
	}
}

// A function counts once, however often it moves. Entries count as they are there.
func TestDump_Numbers(t *testing.T) {
	d := newDump().load(a, "f").move(0, a, a+0x100, 0x30).move(0, a+0x100, a+0x200, 0x30)
	d.record(2, a+0x300, u64(5), a+0x300, u32(1), u32(0), "x").load(a+0x300, "g")
	var all []verify.Diagnostic
	result, err := checks.Verifier().File(context.Background(), write(t, t.TempDir(), "jit-4711.dump", d.b), verify.Options{Emit: func(c verify.Diagnostic) { all = append(all, c) }})
	if err != nil {
		t.Fatal(err)
	}
	if want := "5 records, 2 functions"; result.Holds != want {
		t.Errorf("the dump has %s, want %s", result.Holds, want)
	}
	if want := "5 entries are announced for the function at 0x7f0000001300, and 1 is there"; len(all) != 1 || all[0].Text != want {
		t.Errorf("%+v, want %s", all, want)
	}
}

// A fault of lines or of unwind tables is at the record that has them, which is before the load. Its text has
// the addresses of both.
func TestDump_FaultAtItsRecord(t *testing.T) {
	b, f := a+0x100, a+0x200
	d := newDump().load(a, "f")
	lines := int64(len(d.b))
	d.lines(b, entry{b + 4, 2, "x"}, entry{b - 8, 1, "x"}, entry{b + 8, 2, "x"}).goodUnwind().load(b, "g")
	frames, header := unwindData(len(code()))
	frames[41] = 0x42 // a byte late
	tables := int64(len(d.b))
	d.unwind(append(frames, header...), len(header), 0).load(f, "h")
	_, all := verified(t, write(t, t.TempDir(), "jit-4711.dump", d.b), verify.Options{})
	want := map[string]string{
		"dump/lines-outside": fmt.Sprintf(`%#x some lines of "g" are outside of its code; they are at %#x to %#x, the code at %#x to %#x`, lines, b-8, b+8, b, b+0x30),
		"dump/unwind-false":  fmt.Sprintf(`%#x the unwind tables of "h" contradict its code`, tables),
	}
	for _, c := range all {
		if got := fmt.Sprintf("%#x %s", c.Offset, c.Text); want[c.Rule] == got {
			delete(want, c.Rule)
		}
	}
	if len(want) > 0 {
		t.Errorf("got %+v, want %v", all, want)
	}
}

// changed returns the breach of a dump of one function that was changed.
func changed(rule string, change func(d *dump), also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		d := newDump()
		d.load(dumpBase, "f")
		change(d)
		return d.file(t, dir)
	}, Also: also}
}

// built returns the breach of a dump that is built from its header on.
func built(rule string, build func(d *dump), also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		d := newDump()
		build(d)
		return d.file(t, dir)
	}, Also: also}
}

var dumpBreaches = []breach{
	changed("dump/magic", func(d *dump) { d.b[0] = 'X' }),
	changed("dump/header-cut", func(d *dump) { d.b = d.b[:30] }),
	changed("dump/version", func(d *dump) { d.b[4] = 9 }),
	changed("dump/version-not-1", func(d *dump) { d.b[4] = 2 }),
	changed("dump/header-size", func(d *dump) { d.b[8] = 0 }),
	changed("dump/header-long", func(d *dump) { d.b[8] = 48; d.b = append(d.b[:40:40], append(make([]byte, 8), d.b[40:]...)...) }),
	changed("dump/machine", func(d *dump) { d.b[12] = 0 }),
	changed("dump/machine", func(d *dump) { d.b[13] = 0x77 }),
	changed("dump/pad", func(d *dump) { d.b[16] = 1 }),
	changed("dump/pid", func(d *dump) { le.PutUint32(d.b[20:], 0) }, "dump/load-pid"),
	changed("dump/pid-name", func(d *dump) { le.PutUint32(d.b[20:], 5); le.PutUint32(d.b[56:], 5) }),
	changed("dump/flags", func(d *dump) { d.b[32] = 2 }),
	changed("dump/tsc", func(d *dump) { d.b[32] = 1 }),
	changed("dump/header-time", func(d *dump) { le.PutUint64(d.b[24:], d.time+1) }),
	changed("dump/header-time", func(d *dump) { le.PutUint64(d.b[48:], 20*24*3600*1e9) }),

	changed("dump/record-size", func(d *dump) { d.record(1, u32(1)) }),
	changed("dump/record-size", func(d *dump) {
		at := len(d.b)
		d.record(99, u64(1)).load(a+0x100, "g")
		le.PutUint32(d.b[at+4:], 8)
	}),
	changed("dump/record-size", func(d *dump) {
		at := len(d.b)
		d.load(a+0x100, "g")
		le.PutUint64(d.b[at+16+24:], 1<<40)
	}),
	changed("dump/extra-bytes", func(d *dump) { d.record(3, []byte("what")) }),
	changed("dump/extra-bytes", func(d *dump) { d.tree(func(t *tree) { t.extra = make([]byte, 8) }).load(a+0x100, "poly") }),
	changed("dump/extra-bytes", func(d *dump) {
		d.record(2, a+0x100, u64(1), a+0x100, u32(1), u32(0), "x", []byte{1, 2}).load(a+0x100, "g")
	}),
	changed("dump/padding", func(d *dump) { d.b = append(d.b, make([]byte, 64)...); d.load(a+0x100, "g") }),
	changed("dump/padding-end", func(d *dump) { d.b = append(d.b, make([]byte, 64)...) }),
	changed("dump/unknown-record", func(d *dump) { d.record(5, u64(1)) }),
	changed("dump/extension", func(d *dump) { d.record(827346260, u64(0)) }),
	changed("dump/extension", func(d *dump) { d.record(827346261, u64(1<<40)) }),
	changed("dump/after-close", func(d *dump) { d.record(3).load(a+0x100, "g").load(a+0x200, "h") }),
	changed("dump/cut", func(d *dump) { d.load(a+0x100, "g"); d.b = d.b[:len(d.b)-1] }),
	built("dump/no-load", func(d *dump) { d.record(3) }),

	changed("dump/name-missing", func(d *dump) { d.load(a+0x100, "") }),
	changed("dump/name-text", func(d *dump) { d.load(a+0x100, "g\xff") }),
	changed("dump/name-text", func(d *dump) { d.load(a+0x100, "g\x1b[31m") }),
	changed("dump/load-pid", func(d *dump) {
		at := len(d.b) + 16
		d.load(a+0x100, "g")
		le.PutUint32(d.b[at:], 12)
	}),
	changed("dump/load-tid", func(d *dump) {
		at := len(d.b) + 20
		d.load(a+0x100, "g")
		le.PutUint32(d.b[at:], 1<<23)
	}),
	changed("dump/vma", func(d *dump) {
		at := len(d.b) + 24
		d.load(a+0x100, "g")
		le.PutUint64(d.b[at:], 0)
	}),
	changed("dump/address", func(d *dump) { d.load(0, "g") }),
	changed("dump/address", func(d *dump) { d.load(1<<64-8, "g") }),
	changed("dump/size-zero", func(d *dump) { d.loadIndex(9, a+0x100, "g", nil) }),
	changed("dump/code-missing", func(d *dump) {
		d.record(0, u32(dumpPID), u32(dumpPID), a+0x1000, a+0x1000, u64(0x4000), d.next, "stub ReportStubBlock<StubPrecode>")
	}),
	{Rule: "dump/code-salted", Make: func(t *testing.T, dir string) (string, verify.Options) {
		d := newDump()
		for i := range u64(3) {
			c := code()
			le.PutUint64(c[len(c)-8:], 0x123456789abcdef0^i<<32^u64(len(c)))
			d.loadIndex(i, a+i*0x100, "py::f", c)
		}
		return d.file(t, dir)
	}},
	changed("dump/index-twice", func(d *dump) { d.loadIndex(0, a+0x100, "g", code()) }),
	changed("dump/overlap", func(d *dump) { d.load(a+0x10, "g") }),
	changed("dump/overlap", func(d *dump) { d.load(a+0x100, "g").move(1, a+0x100, a-0x10, 0x30) }),
	changed("dump/move-unknown", func(d *dump) { d.move(8, a, a+0x100, 0x30) }),
	changed("dump/move-from", func(d *dump) { d.move(0, a, a+0x100, 0x30).move(0, a, a+0x200, 0x30) }),
	changed("dump/move-size", func(d *dump) { d.move(0, a, a+0x100, 0x31) }),

	changed("dump/time-zero", func(d *dump) {
		at := len(d.b) + 8
		d.load(a+0x100, "g")
		le.PutUint64(d.b[at:], 0)
	}),
	changed("dump/time-goes-back", func(d *dump) { d.time -= 150; d.load(a+0x100, "g") }),
	built("dump/time-epoch", func(d *dump) { d.time = 1.8e18; le.PutUint64(d.b[24:], d.time); d.load(a, "f").load(a+0x100, "g") }),

	changed("dump/lines-order", func(d *dump) {
		b, c := a+0x100, a+0x200
		d.lines(b, entry{b, 1, "x"}).lines(c, entry{c, 1, "x"}).load(b, "g").load(c, "h")
	}),
	changed("dump/lines-order", func(d *dump) { d.lines(a, entry{a, 1, "x"}) }), // after the load
	changed("dump/lines-orphan", func(d *dump) { d.lines(a+0x100, entry{a + 0x100, 1, "x"}) }),
	changed("dump/lines-count", func(d *dump) { d.record(2, a+0x100, u64(1<<40)).load(a+0x100, "g") }),
	changed("dump/lines-empty", func(d *dump) { d.lines(a+0x100).load(a+0x100, "g") }),
	changed("dump/lines-unsorted", func(d *dump) {
		b := a + 0x100
		d.lines(b, entry{b + 4, 1, "x"}, entry{b, 2, "x"}).load(b, "g")
	}),
	built("dump/lines-skewed", func(d *dump) {
		for i := range u64(3) {
			b := a + i*0x100
			d.lines(b, entry{b + 0x40, 1, "x"}, entry{b + 0x55, 2, "x"}).load(b, "g")
		}
	}),
	built("dump/lines-contradict", func(d *dump) {
		for i := range u64(6) { // half of them skewed; 0x10 is in a nop, if it is not a start
			b := a + i*0x100
			d.lines(b, entry{b + i%2*0x40, 1, "x"}, entry{b + 0x15 + i%2*0x40, 2, "x"}, entry{b + 0x2e + i%2*0x40, 3, "x"}).load(b, "g")
		}
	}),
	built("dump/lines-misplaced", func(d *dump) {
		for i := range u64(10) {
			b := a + i*0x100
			d.lines(b, entry{b, 1, "x"}, entry{b + 0x15 - i/9*4, 2, "x"}).load(b, "g")
		}
	}),
	changed("dump/lines-outside", func(d *dump) {
		b := a + 0x100
		d.lines(b, entry{b - 8, 1, "x"}, entry{b + 4, 2, "x"}).load(b, "g")
	}),
	changed("dump/lines-bytecode", func(d *dump) {
		b := a + 0x100
		d.lines(b, entry{b + 0x11, 1, "x"}, entry{b + 0x13, 2, "x"}).load(b, "JS:^g")
	}),
	changed("dump/line-zero", func(d *dump) {
		b := a + 0x100
		d.lines(b, entry{b, 1, "x"}, entry{b + 4, 0, "x"}).load(b, "g")
	}),
	changed("dump/line-absurd", func(d *dump) {
		b := a + 0x100
		d.lines(b, entry{b, 1 << 30, "x"}).load(b, "g")
	}),
	changed("dump/file-missing", func(d *dump) {
		b := a + 0x100
		d.lines(b, entry{b, 1, ""}).load(b, "g")
	}),
	changed("dump/file-garbage", func(d *dump) {
		b := a + 0x100
		d.lines(b, entry{b, 1, "\x01\x02.js"}).load(b, "g")
	}),
	changed("dump/file-freed", func(d *dump) {
		b := a + 0x100
		d.lines(b, entry{b, 1, "\x01\x02\x00\x00/prog.js"}, entry{b + 4, 1, "\x01\x02\x00\x00/prog.js"}).load(b, "JS:*g /dir/prog.js:1:1")
	}),
	built("dump/file-freed", func(d *dump) { // and all are 0x40 too high
		name := "\x01\x02\x00\x00/prog.js"
		for i := range u64(3) {
			b := a + i*0x100
			d.lines(b, entry{b + 0x40, 1, name}, entry{b + 0x55, 2, name}).load(b, "JS:*g /dir/prog.js:1:1")
		}
	}, "dump/lines-skewed"),
	changed("dump/file-repeat", func(d *dump) {
		b := a + 0x100
		d.lines(b, entry{b, 1, "\xff"}).load(b, "g")
	}),

	changed("dump/unwind-orphan", func(d *dump) { d.goodUnwind() }),
	changed("dump/unwind-orphan", func(d *dump) { d.goodUnwind().goodUnwind().load(a+0x100, "g") }),
	changed("dump/unwind-size", func(d *dump) { d.record(4, u64(8), u64(20), u64(0), u64(0)).load(a+0x100, "g") }),
	changed("dump/unwind-order", func(d *dump) {
		frames, header := unwindData(len(code()))
		d.unwind(append(header, frames...), len(header), 0).load(a+0x100, "g")
	}),
	changed("dump/unwind-shared", func(d *dump) { // as LLVM's ORC writes it
		frames, _ := unwindData(len(code()))
		fde := frames[24:48]
		frames = append(frames[:48], fde...)
		at := u64(0x7f0000200000)
		for i, addr := range []u64{a + 0x100, a + 0x200} {
			f := frames[24+24*i:]
			le.PutUint32(f[4:], u32(28+24*i))
			le.PutUint32(f[8:], u32(addr-at-u64(32+24*i)))
		}
		header := le.AppendUint64([]byte{1, 0x0c, 0xff, 0xff}, at)
		d.unwind(append(header, frames...), len(header), 0).load(a+0x100, "g").load(a+0x200, "h")
	}, "dump/unwind-order"),
	changed("dump/unwind-frames", func(d *dump) {
		frames, header := unwindData(len(code()))
		frames[0] = 0xf0
		d.unwind(append(frames, header...), len(header), 0).load(a+0x100, "g")
	}),
	changed("dump/unwind-frames", func(d *dump) {
		frames, header := unwindData(len(code()))
		frames[40] = 0x3f // no instruction
		d.unwind(append(frames, header...), len(header), 0).load(a+0x100, "g")
	}),
	changed("dump/unwind-place", func(d *dump) {
		frames, header := unwindData(len(code()) + 0x1000)
		d.unwind(append(frames, header...), len(header), 0).load(a+0x2000, "g")
	}),
	changed("dump/unwind-false", func(d *dump) { // CFA = rsp+8 everywhere, as in a table for all functions
		frames, header := unwindData(len(code()))
		clear(frames[41:48])
		d.unwind(append(frames, header...), len(header), 0).load(a+0x100, "g")
	}),
	changed("dump/unwind-false", func(d *dump) { // a byte late
		frames, header := unwindData(len(code()))
		frames[41] = 0x42
		d.unwind(append(frames, header...), len(header), 0).load(a+0x100, "g")
	}),
	changed("dump/unwind-cover", func(d *dump) {
		frames, header := unwindData(len(code()))
		le.PutUint32(frames[36:], 8)
		d.unwind(append(frames, header...), len(header), 0).load(a+0x100, "g")
	}),
	changed("dump/unwind-cover", func(d *dump) { // the FDE begins 8 bytes late
		frames, header := unwindData(len(code()))
		le.PutUint32(frames[32:], le.Uint32(frames[32:])+8)
		le.PutUint32(frames[36:], le.Uint32(frames[36:])-8)
		le.PutUint32(header[12:], le.Uint32(header[12:])+8)
		d.unwind(append(frames, header...), len(header), 0).load(a+0x100, "g")
	}, "dump/unwind-false"),
	changed("dump/unwind-header", func(d *dump) {
		frames, header := unwindData(len(code()))
		header[4]++
		d.unwind(append(frames, header...), len(header), 0).load(a+0x100, "g")
	}),
	changed("dump/unwind-header", func(d *dump) {
		frames, _ := unwindData(len(code()))
		d.unwind(frames, 0, 0).load(a+0x100, "g")
	}),
	changed("dump/unwind-mapped", func(d *dump) {
		frames, header := unwindData(len(code()))
		d.unwind(append(frames, header...), len(header), 4096).load(a+0x100, "g")
	}),

	changed("dump/name-text", func(d *dump) { d.tree(func(t *tree) { t.name = "poly\xff\xfe" }).load(a+0x100, "poly\xff\xfe") }),
	changed("dump/file-garbage", func(d *dump) {
		d.tree(nil).load(a+0x100, "poly")
		d.b = bytes.Replace(d.b, []byte("math.to"), []byte("math.\xff\xff"), 1)
	}),
	changed("dump/tree-size", func(d *dump) { d.record(827346259, make([]byte, 28), u32(9)).load(a+0x100, "g") }),
	changed("dump/tree-order", func(d *dump) { d.tree(nil) }),
	changed("dump/tree-order", func(d *dump) { d.tree(nil).tree(nil).load(a+0x100, "poly") }),
	changed("dump/tree-order", func(d *dump) { d.load(a+0x100, "poly").tree(nil).load(a+0x200, "g") }),
	changed("dump/tree-name", func(d *dump) { d.tree(nil).load(a+0x100, "poly2") }),
	changed("dump/tree-calls", func(d *dump) { d.tree(func(t *tree) { t.size = 0x100 }).load(a+0x100, "poly") }),
	changed("dump/tree-lines", func(d *dump) { d.tree(func(t *tree) { t.line = 0x20 }).load(a+0x100, "poly") }),
	changed("dump/tree-flags", func(d *dump) { d.tree(func(t *tree) { t.innerFlags = 1 << 24 }).load(a+0x100, "poly") }),
	changed("dump/tier-unknown", func(d *dump) { d.tree(func(t *tree) { t.flags |= 3 << 24 }).load(a+0x100, "poly") }),

	beside("dump/marker", func(r *testrec.Recording, marker string) { r.Sample(dumpPID, 6_000_000, 1) }),
	{Rule: "dump/other-process", Make: func(t *testing.T, dir string) (string, verify.Options) {
		path, opts := full().file(t, dir)
		r := testrec.NewRecording()
		r.Sample(12, 6_000_000, 1)
		opts.Recordings = []string{write(t, dir, "perf.data", r.Bytes())}
		return path, opts
	}},
}

// TestLimit: ten complaints about a rule are told, and how many more there are.
func TestLimit(t *testing.T) {
	d := newDump()
	for i := range u64(25) {
		d.load(a+i*0x100, "")
	}
	path, opts := d.file(t, t.TempDir())
	var got []verify.Diagnostic
	opts.Emit = func(c verify.Diagnostic) { got = append(got, c) }
	result, err := checks.Verifier().File(context.Background(), path, opts)
	if err != nil || len(got) != 11 || got[10].More != 15 || got[10].Text != "and 15 more (--all shows them)" || result.Errors != 25 {
		t.Errorf("%d complaints, the last is %+v, %+v, %v", len(got), got[len(got)-1], result, err)
	}
}
