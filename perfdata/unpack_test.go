package perfdata

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"testing"
)

// compressedOnly returns records in the format of pipes: COMPRESSED records with data.
func compressedOnly(data []byte) []byte {
	le := binary.LittleEndian
	out := le.AppendUint64([]byte("PERFILE2"), 16)
	for len(data) > 0 {
		n := min(len(data), maxRecord-recordHead)
		out = le.AppendUint32(out, uint32(RecordCompressed))
		out = le.AppendUint16(out, 0)
		out = le.AppendUint16(out, uint16(recordHead+n))
		out, data = append(out, data[:n]...), data[n:]
	}
	return out
}

// unpackAll returns the number of unpacked bytes, and the error that ended the stream.
func unpackAll(t *testing.T, pipe []byte) (n int64, err error) {
	t.Helper()
	_, blocks, err := OpenPipe(bytes.NewReader(pipe))
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, err := blocks.Next()
		if err != nil {
			return n, err
		}
		n += int64(len(b.Data))
	}
}

// Each block of the stream repeats one byte 128 Ki times: records of type 0x08080808 and 0x0808
// bytes. Four bytes become 131,072.
func TestUnpack_BoundedByInput(t *testing.T) {
	const blocks = 7500
	stream := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38} // a frame with a window of 128 KiB
	for range blocks {
		stream = append(stream, 0x02, 0x00, 0x10, 8)
	}
	n, err := unpackAll(t, compressedOnly(stream))
	if err == nil || !strings.Contains(err.Error(), "more than 6144 times") {
		t.Errorf("got %v after %d bytes; want a message about their number", err, n)
	}
	if most := int64(minInflation + maxInflation*len(stream)); n > most {
		t.Errorf("got %d bytes from %d; want at most %d", n, len(stream), most)
	}
}

// Copies of stacks of 64 KiB, all zero and of one instruction, are the smallest of recordings.
func TestUnpack_ZeroStacks(t *testing.T) {
	le := binary.LittleEndian
	var packed bytes.Buffer
	p, err := NewPacker(&packed, le, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	stack := make([]byte, 65_000)
	const samples = 1000
	for i := range uint64(samples) {
		rec := le.AppendUint32(nil, uint32(RecordSample))
		rec = le.AppendUint16(rec, 1)
		rec = le.AppendUint16(rec, uint16(24+len(stack)))
		rec = le.AppendUint64(le.AppendUint64(rec, 0x55d0_1234_5678), 1e15+i*1_000_037)
		if _, err := p.Write(append(rec, stack...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	pipe := append(le.AppendUint64([]byte("PERFILE2"), 16), packed.Bytes()...)
	n, err := unpackAll(t, pipe)
	if want := int64(samples * (24 + len(stack))); err != io.EOF || n != want {
		t.Errorf("got %d bytes from %d, %v; want %d, EOF", n, packed.Len(), err, want)
	}
	if n < minInflation+500*int64(packed.Len()) {
		t.Errorf("got %d bytes from %d; want data that is near the bound", n, packed.Len())
	}
}

// perf record -z22 -m 64M --call-graph dwarf,65528 wrote this stream, of a program that executes one
// instruction and has a stack of zeros. It is the smallest for its contents that perf has made.
func TestUnpack_SmallestOfPerf(t *testing.T) {
	stream, err := os.ReadFile("testdata/zero-stacks.zst")
	if err != nil {
		t.Fatal(err)
	}
	const unpacked = 90428680
	if n, err := unpackAll(t, compressedOnly(stream)); err != io.EOF || n != unpacked {
		t.Errorf("got %d bytes and %v; want %d and the end", n, err, unpacked)
	}
}

// Of a small file that unpacks to much, little is held. Nothing is lost, and of a file without compressed records
// nothing is read ahead.
func TestHeldStream_Bounded(t *testing.T) {
	stream, err := os.ReadFile("testdata/zero-stacks.zst")
	if err != nil {
		t.Fatal(err)
	}
	packed := compressedOnly(stream)[16:]
	for _, c := range []struct {
		data     []byte
		unpacked int
		most     int
	}{{packed, 90428680, maxHeld + 1<<20}, {make([]byte, 0), 0, 0}, {bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 8, 0}, maxHeld/8), maxHeld, blockSize}} {
		h := &heldStream{reader: newBlockReader(bytes.NewReader(c.data), binary.LittleEndian, 0, int64(len(c.data)), true)}
		n := 0
		for {
			b, err := h.Next()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			held := len(b.Data)
			for _, next := range h.blocks {
				held += len(next.Data)
			}
			if n += len(b.Data); held > c.most {
				t.Fatalf("got %d bytes in memory; want at most %d", held, c.most)
			}
		}
		if n != c.unpacked {
			t.Errorf("got %d bytes; want %d", n, c.unpacked)
		}
	}
}
