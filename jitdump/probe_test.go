package jitdump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// countingFile counts the bytes that are read.
type countingFile struct {
	*bytes.Reader
	read int64
}

func (f *countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.Reader.ReadAt(p, off)
	f.read += int64(n)
	return n, err
}

// records returns a file with a record of each kind, in any order.
func records(t *testing.T, r *rand.Rand) []byte {
	t.Helper()
	var out bytes.Buffer
	h := Header{Order: binary.LittleEndian, Version: 1, Machine: 62, PID: 7}
	if r.IntN(2) == 0 {
		h.Order = binary.BigEndian
	}
	w, err := NewWriter(&out, &h)
	if err != nil {
		t.Fatal(err)
	}
	text := func() []byte { return bytes.Repeat([]byte("näme"), 1+r.IntN(10)) }
	all := []Record{
		&Load{PID: 7, TID: 7, CodeAddr: 0x1000, CodeIndex: 1, Name: text(), Code: []byte("code"), CodeSize: 4},
		&Load{PID: 7, TID: 7, CodeAddr: 0x1000, CodeIndex: 1, Name: text(), CodeSize: 400},
		&Move{PID: 7, OldCodeAddr: 1, NewCodeAddr: 2, CodeSize: 3},
		NewDebugInfo(h.Order, 0x1000, []DebugEntry{{Addr: 0x1000, Line: 1, Name: text()}}),
		&Close{},
		&Unwinding{HeaderSize: 8, MappedSize: 16, Data: make([]byte, 16), Extra: make([]byte, 3)},
		&DebugInfo2{Files: [][]byte{text()}, Names: [][]byte{text()}, Functions: []SourceFunction{{}}, Calls: []InlineCall{{RangeCount: 1}}, Ranges: []CodeRange{{Size: 9}}, Lines: []SourceLine{{}}},
		NewTier(3, Green, "tier"),
		NewEmbeddedSource("file.c", text()),
		&OpenJ9Metadata{CodeAddr: 0x1000, PointerSize: 8, Metadata: make([]byte, 40), Methods: []JavaMethod{{Class: []byte("A"), Name: []byte("f"), Signature: []byte("()V"), File: []byte("A.java")}}},
	}
	for range 12 {
		if err := w.Write(r.Uint64(), all[r.IntN(len(all))]); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// A place begins a record if decoding what is there finds one.
func TestProbe_LikeDecoding(t *testing.T) {
	found := make(map[RecordID]int)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		file := records(t, r)
		for range r.IntN(20) {
			file[40+r.IntN(len(file)-40)] = byte(r.IntN(3) - 1)
		}
		file = file[:len(file)-r.IntN(60)]
		reader, err := NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		for at := int64(40); at < int64(len(file))+3; at++ {
			want, cut := decodes(file, reader.header.Order, at)
			got, err := reader.recordAt(at)
			if got != want || errors.Is(err, ErrCut) != cut {
				t.Fatalf("seed %d: got %v, %v at offset %#x; want %v, cut %v: % x", seed, got, err, at, want, cut, file[min(at, int64(len(file))):])
			}
			if got {
				found[RecordID(reader.header.Order.Uint32(file[at:]))]++
			}
		}
	}
	for _, id := range []RecordID{IDLoad, IDMove, IDDebugInfo, IDClose, IDUnwinding, IDDebugInfo2, IDTier, IDEmbeddedSource, IDOpenJ9} {
		if found[id] == 0 {
			t.Errorf("got no %s; want some", id)
		}
	}
}

// decodes reports whether a record is at an offset of a file, or begins there and is cut.
func decodes(file []byte, order binary.ByteOrder, at int64) (ok, cut bool) {
	b := file[min(at, int64(len(file))):]
	if len(b) < prefixSize {
		return false, len(b) > 0
	}
	id, size := RecordID(order.Uint32(b)), order.Uint32(b[4:])
	if !id.known() || size < prefixSize || size > maxResync {
		return false, false
	}
	if uint64(len(b)) < uint64(size) {
		return false, true
	}
	raw := Raw{ID: id, Offset: at, Body: b[prefixSize:size], Order: order}
	rest := b[size:]
	follows := len(rest) < prefixSize || order.Uint32(rest[4:]) >= prefixSize || allZero(rest[:prefixSize])
	return follows && isWhole(&raw), false
}

// isWhole reports whether a record can be decoded and fills its size.
func isWhole(r *Raw) bool {
	n := uint64(len(r.Body))
	u32 := func(at int) uint64 { return uint64(r.Order.Uint32(r.Body[at:])) }
	fills := func(size uint64) bool { return size <= n && n-size < 8 }
	switch r.ID {
	case IDLoad:
		l, err := r.Load()
		return err == nil && len(l.Extra) == 0 && len(l.Name) > 0 && l.CodeAddr != 0
	case IDMove:
		return n == 48
	case IDDebugInfo:
		d, err := r.DebugInfo()
		return err == nil && d.Count > 0 && d.Count <= uint64(len(d.Area))/(DebugEntryHead+1) && bytes.IndexByte(d.Area, 0) >= 0
	case IDClose:
		return n == 0
	case IDUnwinding:
		u, err := r.Unwinding()
		return err == nil && len(u.Extra) < 8
	case IDDebugInfo2:
		return n >= debugInfo2Head && u32(0) <= u32(4) && u32(8) <= u32(12) && u32(4)%4 == 0 && u32(12)%4 == 0 &&
			fills(debugInfo2Head+u32(4)+u32(12)+u32(16)*sourceFunctionSize+u32(20)*inlineCallSize+u32(24)*codeRangeSize+u32(28)*sourceLineSize)
	case IDTier:
		_, err := r.Tier()
		return err == nil && n < 4<<10
	case IDEmbeddedSource:
		s, err := r.EmbeddedSource()
		return err == nil && len(s.Name) > 0
	case IDOpenJ9:
		return n >= openJ9Head && r.IsOpenJ9Metadata() && u32(4) == openJ9Version && u32(40)%4 == 0 &&
			fills(openJ9Head+u32(32)*javaMethodSize+u32(36)*javaLineSize+(u32(24)+7)&^7+u32(40))
	}
	return false
}

// However many places look like large records, the search for the next sound one reads the file
// a few times, and holds no more of it than a few blocks.
func TestResync_VisitsLittle(t *testing.T) {
	le := binary.LittleEndian
	prefix := func(id RecordID, size int) []byte {
		return le.AppendUint64(le.AppendUint32(le.AppendUint32(nil, uint32(id)), uint32(size)), 1)
	}
	for name, body := range map[string]func(id RecordID, left int) []byte{
		"loads": func(_ RecordID, left int) []byte { return append(prefix(IDLoad, left), bytes.Repeat([]byte{1}, 48)...) },
		"loads without a name": func(_ RecordID, left int) []byte {
			return append(le.AppendUint32(nil, uint32(IDLoad)), append(le.AppendUint32(nil, uint32(left)), bytes.Repeat([]byte{1}, 56)...)...)
		},
		"debug": func(_ RecordID, left int) []byte {
			return append(prefix(IDDebugInfo, left), le.AppendUint64(make([]byte, 8), 1)...)
		},
		"unwinding": func(_ RecordID, left int) []byte { return append(prefix(IDUnwinding, left), make([]byte, 24)...) },
		"sources":   func(_ RecordID, left int) []byte { return append(prefix(IDEmbeddedSource, left), make([]byte, 8)...) },
		"beyond the end": func(_ RecordID, _ int) []byte {
			return append(prefix(IDLoad, 15<<20), bytes.Repeat([]byte{1}, 48)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if _, err := NewWriter(&out, &Header{Order: le, Version: 1, Machine: 62, PID: 7}); err != nil {
				t.Fatal(err)
			}
			const size = 4 << 20
			out.Write(bytes.Repeat([]byte{7}, 33)) // damage
			for out.Len() < size {
				out.Write(body(0, size-out.Len()))
			}
			out.Write(bytes.Repeat([]byte{7}, 100))
			f := &countingFile{Reader: bytes.NewReader(out.Bytes())}
			r, err := NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Next(); err == nil || err == io.EOF {
				t.Fatalf("got %v at the damage; want an error", err)
			}
			before := f.read
			if _, ok := r.Resync(); ok {
				t.Fatalf("got a record at %#x; want none", r.Offset())
			}
			if read := f.read - before; read > 3*size {
				t.Errorf("got %d bytes read of %d; want at most three times as many", read, size)
			}
			if cap(r.window) > 4*blockSize {
				t.Errorf("got a window of %d bytes; want at most %d: each place moves it", cap(r.window), 4*blockSize)
			}
		})
	}
}
