package checkrecording_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

func goodWorld(t *testing.T, dir string) *verifytest.World {
	w := verifytest.NewWorld(t, dir, nil)
	w.Sample(dumpPID, 100, 0x1234)
	w.Mmap2(dumpPID, 120, 0x400000, 0x1000, 0, "/bin/prog")
	w.Round()
	w.MapObject(200)
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
func recorded(rule string, make func(w *verifytest.World), also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		w := verifytest.NewWorld(t, dir, nil)
		make(w)
		return write(t, dir, "perf.data", w.Bytes()), verify.Options{}
	}, Also: also}
}

// bent returns the breach of a good recording of which some bytes were changed.
func bent(rule string, change func(t *testing.T, b []byte) []byte, also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		return write(t, dir, "perf.data", change(t, goodWorld(t, dir).Bytes())), verify.Options{}
	}, Also: also}
}

var recordingBreaches = []breach{
	bent("recording/header", func(t *testing.T, b []byte) []byte { b[16] = 1; b[17] = 0; return b }),
	bent("recording/header", func(t *testing.T, b []byte) []byte { // a feature begins beyond the end
		table := le.Uint64(b[40:]) + le.Uint64(b[48:])
		le.PutUint64(b[table:], 1<<40)
		return b
	}),
	bent("recording/header", func(t *testing.T, b []byte) []byte { // 8 bytes are no table of build ids
		table := le.Uint64(b[40:]) + le.Uint64(b[48:])
		le.PutUint64(b[table+8:], 8)
		return b
	}),
	bent("recording/unfinished", func(t *testing.T, b []byte) []byte {
		end := le.Uint64(b[40:]) + le.Uint64(b[48:])
		le.PutUint64(b[48:], 0)
		return b[:end]
	}),
	bent("recording/ids", func(t *testing.T, b []byte) []byte { return pipe(t, b, 2) }),
	bent("recording/record", func(t *testing.T, b []byte) []byte {
		p := pipe(t, b, 1)
		le.PutUint16(append(p, 9, 0, 0, 0, 0, 0, 4, 0)[len(p)+6:], 4)
		return append(p, 9, 0, 0, 0, 0, 0, 4, 0)
	}),
	recorded("recording/record", func(w *verifytest.World) {
		w.MapObject(200)
		w.Raw(9, 2, make([]byte, 24))
	}),
	bent("recording/cut", func(t *testing.T, b []byte) []byte {
		p := pipe(t, b, 1)
		return p[:len(p)-4]
	}),
	bent("recording/text", func(t *testing.T, b []byte) []byte {
		return append(pipe(t, b, 1), "[ perf record: Woken up 1 times to write data ]\n"...)
	}),
	recorded("recording/sample-id", func(w *verifytest.World) {
		w.MapObject(200)
		w.ID = 78
		w.Sample(dumpPID, 300, a)
		w.ID = 77
	}),
	recorded("recording/record", func(w *verifytest.World) {
		w.MapObject(200)
		w.Raw(3, 0, make([]byte, 8))
	}),
	recorded("recording/order", func(w *verifytest.World) {
		w.Sample(dumpPID, 100, 1)
		w.Round()
		w.Sample(dumpPID, 200, 1)
		w.Round()
		w.MapObject(50)
	}),
	recorded("recording/marker-left", func(w *verifytest.World) {
		w.MapObject(200)
		w.Marker(dumpPID, 100, "/x/jit-4711.dump")
	}),
	{Rule: "recording/object-mode", Make: func(t *testing.T, dir string) (string, verify.Options) {
		w := verifytest.NewWorld(t, dir, nil)
		w.MapObject(200)
		b := w.Bytes()
		b[bytes.Index(b, []byte(w.Path))-68]-- // misc: the kernel's
		return write(t, dir, "perf.data", b), verify.Options{}
	}},
	{Rule: "recording/object-mode", Make: func(t *testing.T, dir string) (string, verify.Options) {
		w := verifytest.NewWorld(t, dir, nil)
		w.MapObject(200)
		b := w.Bytes()
		b[bytes.Index(b, []byte(w.Path))-8] = 1 // PROT_READ
		return write(t, dir, "perf.data", b), verify.Options{}
	}},
	recorded("recording/object-missing", func(w *verifytest.World) {
		w.MapObject(200)
		os.Remove(w.Path)
	}),
	recorded("recording/object-file", func(w *verifytest.World) {
		w.MapObject(200)
		os.Rename(w.Path, w.Path+".elsewhere")
		os.Symlink(w.Path+".elsewhere", w.Path)
	}),
	recorded("recording/build-id", func(w *verifytest.World) {
		w.BuildID[0]++
		w.MapObject(200)
	}),
	recorded("recording/build-id-missing", func(w *verifytest.World) { verifytest.MapObject(w.Recording, 200, a, 0x30, 0x80, w.Path, nil) }),
	recorded("recording/object-range", func(w *verifytest.World) { verifytest.MapObject(w.Recording, 200, a, 0x30, 0x40, w.Path, w.BuildID) }),
	recorded("recording/object-range", func(w *verifytest.World) { verifytest.MapObject(w.Recording, 200, a, 1<<20, 0x80, w.Path, w.BuildID) }),
	{Rule: "recording/object-symbol", Make: func(t *testing.T, dir string) (string, verify.Options) {
		w := verifytest.NewWorld(t, dir, verifytest.PatchedObject(t, func(p *verifytest.ObjectPatch) { le.PutUint64(p.Section(".symtab")[24+16:], 8) })) // its size
		verifytest.MapObject(w.Recording, 200, a, 0x10, 0x90, w.Path, w.BuildID)
		return write(t, dir, "perf.data", w.Bytes()), verify.Options{}
	}},
}

// Tables with a place of their own are as good as others.
func TestRecording_TablesAway(t *testing.T) {
	const away = 0x100000
	dir := t.TempDir()
	o := verifytest.ObjectAt(t, jitobj.Place{Away: away, Room: 1 << 16})
	w := verifytest.NewWorld(t, dir, o.Bytes)
	w.SampleType |= testrec.StackUser
	w.MapObject(200)
	verifytest.MapObject(w.Recording, 200, a+away, o.Tables.Size, o.Tables.Offset, w.Path, w.BuildID)
	if rules, all := verified(t, write(t, dir, "perf.data", w.Bytes()), verify.Options{}); len(rules) > 0 {
		t.Errorf("got %v; want no diagnostics: %+v", rules, all)
	}
}
