package xrayfdr

import (
	"bytes"
	"io"
	"testing"
)

// Whatever the bytes are, reading ends; records lie one behind the other within
// their block; an index finds the same blocks, and reading them one by one gives
// the same records; and what is written of them reads the same again.
func FuzzReader(f *testing.F) {
	for _, name := range realTraces(f) {
		file := unpacked(f, name+".xray")
		f.Add(file[:min(len(file), 6000)])
	}
	for _, order := range orders() {
		f.Add(everything(f, order))
		file, _ := chatty(f, order, 4, func(i int) []byte { return make([]byte, 8*i+3) })
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		src, size := bytes.NewReader(file), int64(len(file))
		r, err := NewReader(src, size)
		if err != nil {
			if _, err := ReadIndex(src, size); err == nil {
				t.Fatal("a file without header has an index")
			}
			return
		}
		x, err := ReadIndex(src, size)
		if err != nil {
			t.Fatal(err)
		}
		blocks := x.Blocks
		var out bytes.Buffer
		free := *r.Header()
		free.BufferSize = 0
		w, err := newWriter(&out, &free)
		if err != nil {
			t.Fatal(err)
		}
		for calls := 0; ; {
			b, err := r.NextBlock()
			if err == io.EOF {
				break
			}
			if err != nil {
				if !isViolation(err) {
					t.Fatal(err)
				}
				if calls++; calls > len(file) {
					t.Fatal("reading does not end")
				}
				continue
			}
			if len(blocks) == 0 || blocks[0] != *b {
				t.Fatalf("block %+v, the index has %+v", *b, blocks)
			}
			alone := NewBlockReader(src, x.Header)
			alone.OpenBlock(blocks[0])
			blocks = blocks[1:]
			checkBlock(t, r, alone, *b, w)
		}
		if len(blocks) > 0 {
			t.Fatalf("the index has %+v more", blocks)
		}
	})
}

// checkBlock reads a block with two readers at once, and writes it.
func checkBlock(t *testing.T, r, alone *Reader, b Block, w writer) {
	at := b.Offset
	for {
		rec, err := r.Next()
		again, err2 := alone.Next()
		if (err == nil) != (err2 == nil) || (err == io.EOF) != (err2 == io.EOF) {
			t.Fatalf("block %+v: %v, read alone %v", b, err, err2)
		}
		if err != nil {
			if err != io.EOF && !isViolation(err) {
				t.Fatal(err)
			}
			if rec, err := r.Next(); err != io.EOF {
				t.Fatalf("behind the end: %v, %v", rec, err)
			}
			return
		}
		p, q := rec.Payload, again.Payload
		c, d := *rec, *again
		c.Payload, d.Payload = nil, nil
		if c.Offset != d.Offset || c.Kind != d.Kind || c.TSC != d.TSC || !bytes.Equal(p, q) {
			t.Fatalf("block %+v: %+v, read alone %+v", b, rec, again)
		}
		if rec.Offset < at || rec.Offset+rec.Size() > b.Offset+b.Size {
			t.Fatalf("block %+v: %+v", b, rec)
		}
		at = rec.Offset + rec.Size()
		if rec.Payload != nil && len(rec.Payload) != int(rec.PayloadSize) {
			t.Fatalf("got %+v; want no Payload or rec.PayloadSize payload", rec)
		}
		_ = w.Record(rec) // or it is full
	}
}
