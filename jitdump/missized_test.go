package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// A debug record of V8 15 announces a wrong size. The error is the difference of two file
// names, since entries have the previous entry's name. The record's load and the next
// function are found.
func TestReader_MissizedDebugInfo(t *testing.T) {
	const short, long = "/a.js", "/directory/with/a/long/name.js"
	for _, c := range []struct {
		name   string
		pad    uint32
		files  []string // of the scripts of the entries
		wrong  bool
		missed int64
	}{
		{"the same file", 0xdeadbeef, []string{long, long, long}, false, 0},
		{"first and last in the same file", 0xdeadbeef, []string{long, short, long}, false, 0},
		{"the last in a shorter one", 0xdeadbeef, []string{long, long, short}, true, int64(len(short) - len(long))},
		{"the last in a longer one", 0xdeadbeef, []string{short, short, long}, true, int64(len(long) - len(short))},
		{"the last one byte shorter", 0xdeadbeef, []string{"/aa.js", "/aa.js", short}, true, -1},
		{"not V8", 0, []string{long, long, short}, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := lateNames(t, c.pad, c.files)
			r, err := jitdump.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for {
				raw, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					got = append(got, err.Error())
					break
				}
				got = append(got, fmt.Sprint(raw.ID))
				if raw.ID != jitdump.IDDebugInfo {
					continue
				}
				if raw.Missized != c.missed {
					t.Errorf("announces %d bytes too many, want %d", raw.Missized, c.missed)
				}
				if info, err := raw.DebugInfo(); c.missed != 0 {
					n := 0
					for _, err := range info.Entries() {
						if err == nil {
							n++
						}
					}
					if err != nil || n != 3 {
						t.Errorf("%d entries, want 3: %v", n, err)
					}
				}
				again, err := jitdump.ParseRecord(data[raw.Offset:raw.Offset+raw.Size()], binary.LittleEndian, raw.Offset)
				if err != nil || again.Missized != raw.Missized || !bytes.Equal(again.Body, raw.Body) {
					t.Errorf("read again: %d bytes, missized by %d: %v", len(again.Body), again.Missized, err)
				}
			}
			want := []string{"JIT_CODE_DEBUG_INFO", "JIT_CODE_LOAD", "JIT_CODE_LOAD"}
			if found := slices.Equal(got, want); found != (!c.wrong || c.pad != 0) {
				t.Errorf("records %v, want %v", got, want)
			}
		})
	}
}

// lateNames is a dump with a debug record as V8 15 writes it, and two loads.
func lateNames(t *testing.T, pad uint32, files []string) []byte {
	var b bytes.Buffer
	w, err := jitdump.NewWriter(&b, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: 62, Pad: pad, PID: 100})
	if err != nil {
		t.Fatal(err)
	}
	var entries []jitdump.DebugEntry
	announced := 32
	for i, file := range files {
		announced += 16 + len(file) + 1
		entries = append(entries, jitdump.DebugEntry{Addr: 0x1040 + uint64(i), Line: uint32(i + 1), Name: []byte(files[max(i-1, 0)])})
	}
	info := jitdump.NewDebugInfo(binary.LittleEndian, 0x1000, entries)
	padding := -announced & 7
	end := 0
	for range entries {
		end += 16 + bytes.IndexByte(info.Area[end+16:], 0) + 1
	}
	info.Area = append(info.Area[:end:end], make([]byte, padding)...)
	at := b.Len()
	if err := w.Write(1413804_123456789, info); err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(b.Bytes()[at+4:], uint32(announced+padding))
	for i := range uint64(2) {
		load := &jitdump.Load{PID: 100, TID: 100, VMA: 0x1000 + i<<12, CodeAddr: 0x1000 + i<<12, CodeIndex: i, Name: []byte("f"), Code: []byte{0x90, 0x90, 0x90, 0xc3}}
		if err := w.Write(1413804_123466789+i, load); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}
