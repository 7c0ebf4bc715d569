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

// fits reports whether bytes can follow those of a file.
func fits(disk, tail []byte) bool {
	f := &follower{disk: growing{file: bytes.NewReader(disk)}}
	return f.fits(int64(len(disk)), tail)
}

// A tail goes on where the file ends, at each place. One that is on the disk already does not.
func TestFits_EachCut(t *testing.T) {
	dump := dumpOf(t, 20)
	for size := 0; size <= len(dump); size += 13 {
		for end := size; end <= len(dump); end += 29 {
			if !fits(dump[:size], dump[size:end]) {
				t.Fatalf("bytes %d to %d: got that they do not fit; want that they do", size, end)
			}
		}
	}
	f := &follower{disk: growing{file: bytes.NewReader(dump)}} // while the file grows
	for size := 0; size <= len(dump); size += 7 {
		if !f.fits(int64(size), dump[size:]) {
			t.Fatalf("after %d bytes of a growing file: got that the rest does not fit; want that it does", size)
		}
	}
	wrong := 0
	for size := 800; size < len(dump); size++ {
		if fits(dump[:size], dump[size-700:size]) {
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
		{"done, unknown place", at + n, -1, 0, true, 0, 0},
		{"another file", at, 40, n, false, 0, -1},
		{"another file, longer", at, at + 1, n, false, 0, -1},
	} {
		s := &state{buffer: buffer{used: c.used, offset: c.offset}, lib: libraries[0], held: held[:c.used], size: int64(c.size)}
		file := bytes.NewReader(dump[:c.size])
		rest, ok := s.unwritten(file, &follower{disk: growing{file: file}})
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

// musl writes the buffer and what follows it in one call, and the FILE does not note the place.
func TestState_WrittenWithMore(t *testing.T) {
	dump := dumpOf(t, 20)
	const at = 900
	for _, n := range []int{500, 100} {
		held := dump[at:][:n]
		s := &state{buffer: buffer{used: n, offset: -1}, lib: libraries[1], held: held}
		for _, more := range []int{-1, 0, 300, 1000} { // bytes on the disk after those of the buffer; -1: nor these
			s.size = int64(at + n + more)
			if more < 0 {
				s.size = at
			}
			file := bytes.NewReader(dump[:s.size])
			rest, ok := s.unwritten(file, &follower{disk: growing{file: file}})
			if want := more < 0; ok != want || ok && !bytes.Equal(rest, held) {
				t.Errorf("buffer of %d bytes, %d bytes more on the disk: got %d bytes, sure: %v; want sure: %v", n, more, len(rest), ok, want)
			}
		}
	}
}
