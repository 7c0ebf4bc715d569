package dumptail

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// dumpOf returns a dump with functions whose code differs.
func dumpOf(t *testing.T, functions int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := jitdump.NewWriter(&out, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: 62, PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range functions {
		code := bytes.Repeat([]byte{byte(i + 1), 0xc3}, 50)
		if err := w.Write(uint64(1000+i), &jitdump.Load{PID: 1, TID: 1, VMA: 64, CodeAddr: 64, CodeIndex: uint64(i), Name: []byte("name"), Code: code}); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func TestEndingOf_Cuts(t *testing.T) {
	dump := dumpOf(t, 3)
	load := (len(dump) - 40) / 3
	for size, want := range map[int]ending{0: endsCut, 40: endsWhole, 41: endsCut, 40 + load: endsWhole, 40 + load + 20: endsCut, len(dump) - 1: endsCut, len(dump): endsWhole} {
		if got := endingOf(bytes.NewReader(dump), int64(size)); got != want {
			t.Errorf("%d of %d bytes: got ending %d; want %d", size, len(dump), got, want)
		}
	}
	damaged := bytes.Clone(dump)
	damaged[len(dump)-load], damaged[len(dump)-load+4] = 1, 3 // a move of 3 bytes
	for _, b := range [][]byte{damaged, []byte("no dump")} {
		if got := endingOf(bytes.NewReader(b), int64(len(b))); got != endsUnknown {
			t.Errorf("got ending %d; want %d", got, endsUnknown)
		}
	}
}

// A tail goes on where the file ends, at each place. One that is on the disk already does not.
func TestFits_EachCut(t *testing.T) {
	dump := dumpOf(t, 20)
	for size := 0; size <= len(dump); size += 7 {
		for end := size; end <= len(dump); end += 11 {
			if !fits(bytes.NewReader(dump[:size]), int64(size), dump[size:end]) {
				t.Fatalf("bytes %d to %d: got that they do not fit; want that they do", size, end)
			}
		}
	}
	wrong := 0
	for size := 800; size < len(dump); size++ {
		if fits(bytes.NewReader(dump[:size]), int64(size), dump[size-700:size]) {
			wrong++
		}
	}
	// Where the two places in records are the same, the bytes do go on.
	if load := (len(dump) - 40) / 20; 700%load == 0 || wrong > len(dump)/20 {
		t.Errorf("got %d repeated tails of %d that fit; want hardly any", wrong, len(dump)-800)
	}
}

// The process was stopped at each moment around a write of the 500 bytes in its buffer.
func TestState_MomentsOfAWrite(t *testing.T) {
	dump := dumpOf(t, 20)
	const at, n = 900, 500
	held := dump[at:][:n]
	for _, c := range []struct {
		name       string
		size       int   // of the file
		offset     int64 // that the FILE notes
		used       int
		sure       bool
		unwritten  int // number of bytes if sure
		unfinished int // else, or -1
	}{
		{"before", at, at, n, true, n, 0},
		{"before, unknown place", at, -1, n, true, n, 0},
		{"written", at + n, at, n, false, 0, 0},
		{"written in part", at + 200, at, n, false, 0, n - 200},
		{"noted", at + n, at + n, n, false, 0, 0},
		{"done", at + n, at + n, 0, true, 0, 0},
		{"written, unknown place", at + n, -1, n, false, 0, 0},
		{"written with more, unknown place", at + n + 300, -1, n, false, 0, 0},
		{"done, unknown place", at + n, -1, 0, true, 0, 0},
		{"another file", at, 40, n, false, 0, -1},
		{"another file, longer", at, at + 1, n, false, 0, -1},
	} {
		s := &state{buffer: buffer{used: c.used, offset: c.offset}, held: held[:c.used], size: int64(c.size)}
		file := bytes.NewReader(dump[:c.size])
		rest, ok := s.unwritten(file)
		if ok != c.sure || ok && !bytes.Equal(rest, held[:c.unwritten]) {
			t.Errorf("%s: got %d bytes, sure: %v; want %d, %v", c.name, len(rest), ok, c.unwritten, c.sure)
		}
		if ok {
			continue
		}
		rest, ok = s.unfinished(file)
		if ok != (c.unfinished >= 0) || ok && !bytes.Equal(rest, held[n-c.unfinished:]) {
			t.Errorf("%s, standing still: got %d bytes, %v; want %d", c.name, len(rest), ok, c.unfinished)
		}
	}
}
