package verify_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

// mapObject adds the mapping of an object as jitinject does, with a build id if there
// is one.
func mapObject(r *testrec.Recording, time, addr, length, pgoff uint64, path string, id []byte) {
	if id == nil {
		r.Mmap2(dumpPID, time, addr, length, pgoff, path)
		return
	}
	b := le.AppendUint32(le.AppendUint32(nil, dumpPID), dumpPID)
	for _, v := range []uint64{addr, length, pgoff} {
		b = le.AppendUint64(b, v)
	}
	b = append(append(b, byte(len(id)), 0, 0, 0), id...)
	b = append(b, make([]byte, 20-len(id))...)
	b = le.AppendUint32(le.AppendUint32(b, 5), 2)
	r.Kernel(10, 1<<14|2, append(append(b, path...), 0), dumpPID, time)
}

// A world is a recording with an object.
type world struct {
	*testrec.Recording
	path string
	id   []byte
}

func newWorld(t *testing.T, dir string, object []byte) *world {
	t.Helper()
	if object == nil {
		object = objectBytes(t)
	}
	w := &world{Recording: testrec.NewRecording(), path: filepath.Join(dir, objectName)}
	w.SampleType |= testrec.ID
	write(t, dir, objectName, object)
	w.id = bytes.Clone(object[0x50:0x64])
	return w
}

// object maps the object as it should be.
func (w *world) object(time uint64) *world {
	mapObject(w.Recording, time, a, 0x30, 0x80, w.path, w.id)
	return w
}

func goodWorld(t *testing.T, dir string) *world {
	w := newWorld(t, dir, nil)
	w.Sample(dumpPID, 100, 0x1234)
	w.Mmap2(dumpPID, 120, 0x400000, 0x1000, 0, "/bin/prog")
	w.Round()
	w.object(200)
	w.Sample(dumpPID, 300, a+8)
	w.Round()
	w.Sample(dumpPID, 250, a+9)
	return w
}

func goodRecording(t *testing.T, dir string) (string, verify.Options) {
	return write(t, dir, "perf.data", goodWorld(t, dir).Bytes()), verify.Options{}
}

// pipe returns a recording in pipe format: its attr, twice if asked for, and records.
func pipe(t *testing.T, file []byte, attrs int) []byte {
	t.Helper()
	b := append([]byte("PERFILE2"), 16, 0, 0, 0, 0, 0, 0, 0)
	for range attrs {
		b = le.AppendUint32(b, 64)
		b = le.AppendUint32(b, (8+128+8)<<16)
		b = append(b, file[112:112+128]...)
		b = le.AppendUint64(b, 77)
	}
	data, size := le.Uint64(file[40:]), le.Uint64(file[48:])
	return append(b, file[data:data+size]...)
}

func goodPipe(t *testing.T, dir string) (string, verify.Options) {
	return write(t, dir, "perf.data", pipe(t, goodWorld(t, dir).Bytes(), 1)), verify.Options{}
}

// recorded returns the breach of a recording that is made around an object.
func recorded(rule string, make func(w *world), also ...string) breach {
	return breach{rule, func(t *testing.T, dir string) (string, verify.Options) {
		w := newWorld(t, dir, nil)
		make(w)
		return write(t, dir, "perf.data", w.Bytes()), verify.Options{}
	}, also}
}

// bent returns the breach of a good recording of which some bytes were changed.
func bent(rule string, change func(t *testing.T, b []byte) []byte, also ...string) breach {
	return breach{rule, func(t *testing.T, dir string) (string, verify.Options) {
		return write(t, dir, "perf.data", change(t, goodWorld(t, dir).Bytes())), verify.Options{}
	}, also}
}

// injectedDump returns a dump beside the recording that it was injected into.
func injectedDump(t *testing.T, dir string, addr uint64, code []byte) (string, verify.Options) {
	w := newWorld(t, dir, nil)
	w.object(200)
	w.Sample(dumpPID, 6_000_000, a+8)
	opts := verify.Options{Recording: write(t, dir, "perf.data", w.Bytes())}
	d := newDump().loadIndex(0, addr, "f", code)
	return write(t, dir, "jit-4711.dump", d.b), opts
}

// TestInjectedDump: the code is as it should be, or not mapped at all.
func TestInjectedDump(t *testing.T) {
	for _, addr := range []uint64{a, a + 0x1000} {
		path, opts := injectedDump(t, t.TempDir(), addr, code())
		if rules, all := verified(t, path, opts); len(rules) > 0 {
			t.Errorf("%v: %+v", rules, all)
		}
	}
}

// unmapped is a dump beside a recording with a sample in its code, of which the mapping
// comes late, or elsewhere.
func unmapped(time, addr uint64) breach {
	return breach{"dump/not-mapped", func(t *testing.T, dir string) (string, verify.Options) {
		w := newWorld(t, dir, nil)
		w.Comm(dumpPID, 1_000_000, "program", true)
		mapObject(w.Recording, time, addr, 0x30, 0x80, w.path, w.id)
		w.Sample(dumpPID, 6_000_000, a+8)
		opts := verify.Options{Recording: write(t, dir, "perf.data", w.Bytes())}
		return write(t, dir, "jit-4711.dump", newDump().loadIndex(0, a, "f", code()).b), opts
	}, nil}
}

var recordingBreaches = []breach{
	unmapped(7_000_000, a),
	unmapped(900_000, a), // before the program
	unmapped(5_000_100, a+0x100000),
	{"dump/injected-code", func(t *testing.T, dir string) (string, verify.Options) {
		other := code()
		other[9]++
		return injectedDump(t, dir, a, other)
	}, nil},
	bent("recording/header", func(t *testing.T, b []byte) []byte { b[16] = 1; b[17] = 0; return b }),
	bent("recording/unfinished", func(t *testing.T, b []byte) []byte {
		end := le.Uint64(b[40:]) + le.Uint64(b[48:])
		le.PutUint64(b[48:], 0)
		return b[:end]
	}),
	bent("recording/sections", func(t *testing.T, b []byte) []byte {
		table := le.Uint64(b[40:]) + le.Uint64(b[48:])
		le.PutUint64(b[table+16:], le.Uint64(b[40:])+8) // the host name
		return b
	}),
	bent("recording/sections", func(t *testing.T, b []byte) []byte {
		attrs := le.Uint64(b[24:])
		le.PutUint64(b[attrs+128:], attrs+8) // the ids
		return b
	}, "recording/sample-id", "recording/no-jit"),
	bent("recording/ids", func(t *testing.T, b []byte) []byte { return pipe(t, b, 2) }),
	bent("recording/record", func(t *testing.T, b []byte) []byte {
		p := pipe(t, b, 1)
		le.PutUint16(append(p, 9, 0, 0, 0, 0, 0, 4, 0)[len(p)+6:], 4)
		return append(p, 9, 0, 0, 0, 0, 0, 4, 0)
	}),
	bent("recording/cut", func(t *testing.T, b []byte) []byte {
		p := pipe(t, b, 1)
		return p[:len(p)-4]
	}),
	recorded("recording/sample-id", func(w *world) {
		w.object(200)
		w.ID = 78
		w.Sample(dumpPID, 300, a)
		w.ID = 77
	}),
	recorded("recording/sample-id", func(w *world) {
		w.object(200)
		w.Raw(3, 0, make([]byte, 8))
	}),
	recorded("recording/order", func(w *world) {
		w.Sample(dumpPID, 100, 1)
		w.Round()
		w.Sample(dumpPID, 200, 1)
		w.Round()
		w.object(50)
	}),
	recorded("recording/no-clock", func(w *world) {
		w.ClockID = -1
		w.Marker(dumpPID, 100, "/x/jit-4711.dump")
	}, "recording/not-injected"),
	recorded("recording/not-injected", func(w *world) { w.Marker(dumpPID, 100, "/x/jit-4711.dump") }),
	recorded("recording/marker-left", func(w *world) {
		w.object(200)
		w.Marker(dumpPID, 100, "/x/jit-4711.dump")
	}),
	recorded("recording/no-jit", func(w *world) { w.Sample(dumpPID, 100, 1) }),
	{"recording/object-mode", func(t *testing.T, dir string) (string, verify.Options) {
		w := newWorld(t, dir, nil)
		w.object(200)
		b := w.Bytes()
		b[bytes.Index(b, []byte(w.path))-68]-- // misc: the kernel's
		return write(t, dir, "perf.data", b), verify.Options{}
	}, nil},
	{"recording/object-mode", func(t *testing.T, dir string) (string, verify.Options) {
		w := newWorld(t, dir, nil)
		w.object(200)
		b := w.Bytes()
		b[bytes.Index(b, []byte(w.path))-8] = 1 // PROT_READ
		return write(t, dir, "perf.data", b), verify.Options{}
	}, nil},
	recorded("recording/object-missing", func(w *world) {
		w.object(200)
		os.Remove(w.path)
	}),
	recorded("recording/object-file", func(w *world) {
		w.object(200)
		os.Rename(w.path, w.path+".elsewhere")
		os.Symlink(w.path+".elsewhere", w.path)
	}),
	recorded("recording/build-id", func(w *world) {
		w.id[0]++
		w.object(200)
	}),
	recorded("recording/build-id-missing", func(w *world) { mapObject(w.Recording, 200, a, 0x30, 0x80, w.path, nil) }),
	recorded("recording/object-range", func(w *world) { mapObject(w.Recording, 200, a, 0x30, 0x40, w.path, w.id) }),
	recorded("recording/object-range", func(w *world) { mapObject(w.Recording, 200, a, 1<<20, 0x80, w.path, w.id) }),
	{"recording/object-symbol", func(t *testing.T, dir string) (string, verify.Options) {
		w := newWorld(t, dir, patchedObject(t, func(p *elfPatch) { le.PutUint64(p.section(".symtab")[24+symSize:], 8) }))
		mapObject(w.Recording, 200, a, 0x10, 0x90, w.path, w.id)
		return write(t, dir, "perf.data", w.Bytes()), verify.Options{}
	}, nil},
	awayBreach("recording/tables-over", 0x100000-0xff0),
	awayBreach("recording/tables-over", 0x100010),
	recorded("recording/over-file", func(w *world) {
		w.SampleType |= testrec.StackUser
		w.Mmap2(dumpPID, 100, a&^0xfff, 0x10000, 0, "/bin/prog")
		w.object(200)
	}),
}

// awayBreach maps unwind tables at a place of their own, and something else beside or
// over them.
func awayBreach(rule string, other uint64) breach {
	return breach{rule, func(t *testing.T, dir string) (string, verify.Options) {
		const away = 0x100000
		o := objectAt(t, jitobj.Place{Away: away, Room: 1 << 16})
		w := newWorld(t, dir, o.Bytes)
		w.SampleType |= testrec.StackUser
		w.object(200)
		mapObject(w.Recording, 200, a+away, o.Tables.Size, o.Tables.Offset, w.path, w.id)
		w.Mmap2(dumpPID, 300, a+other, 0x1000, 0, "//anon")
		return write(t, dir, "perf.data", w.Bytes()), verify.Options{}
	}, nil}
}

// TestTablesAway: tables with a place of their own are as good as others.
func TestTablesAway(t *testing.T) {
	path, opts := awayBreach("", 0x101000).make(t, t.TempDir())
	if rules, all := verified(t, path, opts); len(rules) > 0 {
		t.Errorf("%v: %+v", rules, all)
	}
}

// TestCopyOfFile: V8's second mapping of its builtins is no place to keep out of.
func TestCopyOfFile(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, dir, nil)
	w.SampleType |= testrec.StackUser
	w.Mmap2(dumpPID, 100, 0x400000, 0x20000, 0, "/bin/prog")
	w.Mmap2(dumpPID, 110, a&^0xfff, 0x10000, 0x8000, "/bin/prog")
	w.object(200)
	path := write(t, dir, "perf.data", w.Bytes())
	if rules, all := verified(t, path, verify.Options{}); len(rules) > 0 {
		t.Errorf("%v: %+v", rules, all)
	}
}

// TestNothing: what is none of the three is not judged.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("hello, world\n"), "perf.data": []byte("PERFILE2")} {
		_, err := formats.Verifier().File(context.Background(), write(t, dir, name, b), verify.Options{})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := formats.Verifier().File(context.Background(), filepath.Join(dir, "none"), verify.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := formats.Verifier().File(context.Background(), "/dev/zero", verify.Options{}); err == nil {
		t.Error("a device: no error")
	}
}
