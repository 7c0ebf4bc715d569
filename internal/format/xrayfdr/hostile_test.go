package xrayfdr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// same compares records.
func same(a, b Record) bool {
	p, q := a.Payload, b.Payload
	a.Payload, b.Payload = nil, nil
	return reflect.DeepEqual(a, b) && bytes.Equal(p, q)
}

// TestReader_CutAtEveryByte cuts traces at every byte: what is read is the beginning of what
// the whole trace holds.
func TestReader_CutAtEveryByte(t *testing.T) {
	traces := map[string][]byte{}
	for _, name := range []string{"v5-perf-pair", "v5-events"} {
		traces[name] = unpacked(t, name+".xray")
	}
	for _, order := range orders() {
		traces[fmt.Sprint(order)] = everything(t, order)
	}
	for name, file := range traces {
		_, whole, _, _ := readAll(t, file)
		all := slices.Concat(whole...)
		for n := HeaderSize; n < len(file); n += testrec.Rounds(1, 7) {
			blocks, records, fixes, problems := readAll(t, file[:n])
			got := slices.Concat(records...)
			for i := range got {
				if !same(got[i], all[i]) {
					t.Fatalf("%s cut at %d: record %d is %+v, not %+v", name, n, i, got[i], all[i])
				}
			}
			cut := len(blocks) > 0 && blocks[len(blocks)-1].Cut
			if cut != (fixes[CutFile] == 1) {
				t.Fatalf("%s cut at %d: %v, %v", name, n, fixes, problems)
			}
			if len(problems) > 0 { // only where less than one record of a block is left
				if len(problems) > 1 || !strings.Contains(problems[0].Error(), "no block begins here") {
					t.Fatalf("%s cut at %d: %v", name, n, problems)
				}
			}
		}
		for n := range HeaderSize {
			if _, err := NewReader(bytes.NewReader(file[:n]), int64(n)); !errors.Is(err, ErrNotXRay) {
				t.Fatalf("%s cut at %d: %v", name, n, err)
			}
		}
	}
}

// TestReader_BlocksShuffled puts blocks into other orders: each reads as before.
func TestReader_BlocksShuffled(t *testing.T) {
	for _, name := range []string{"v5-perf-pair", "v5-llvm14-small"} {
		file := unpacked(t, name+".xray")
		blocks, records, want, _ := readAll(t, file)
		for seed := range uint64(10) {
			order := rand.New(rand.NewPCG(seed, 1)).Perm(len(blocks))
			shuffled := slices.Clone(file[:HeaderSize])
			for _, i := range order {
				shuffled = append(shuffled, file[blocks[i].Offset:blocks[i].Offset+blocks[i].Size]...)
			}
			_, got, repairs, problems := readAll(t, shuffled)
			if len(problems) > 0 || repairs != want || len(got) != len(records) {
				t.Fatalf("%s: got problems %v, %+v, %d records; want no problems, %+v, %d records", name, problems, repairs, len(got), want, len(records))
			}
			for n, i := range order {
				for j := range got[n] {
					a, b := got[n][j], records[i][j]
					a.Offset, b.Offset = 0, 0
					if !same(a, b) {
						t.Fatalf("%s: block %d, record %d is %+v, was %+v", name, i, j, a, b)
					}
				}
			}
		}
	}
}

// TestReader_PieceMissing takes a piece out of a trace: the blocks behind it are found again.
func TestReader_PieceMissing(t *testing.T) {
	for _, order := range orders() {
		file := everything(t, order)
		holed := slices.Delete(slices.Clone(file), 40, 140)
		blocks, _, fixes, problems := readAll(t, holed)
		n := len(blocks)
		if len(problems) != 1 || fixes[Searched]+fixes[WrongExtents] != 1 || n < 2 || blocks[n-2].TID != 101 || blocks[n-1].TID != 102 {
			t.Errorf("order %v: got blocks %+v, fixes %v, problems %v; want the last two blocks, one fix, one problem", order, blocks, fixes, problems)
		}
	}
}

// TestReader_BytesBetweenBlocks: bytes that belong to no block, and records that extents do not
// count, are not read, and counted.
func TestReader_BytesBetweenBlocks(t *testing.T) {
	garbage := bytes.Repeat([]byte("garbage "), 25)
	for _, order := range orders() {
		file := everything(t, order)
		blocks, whole, _, _ := readAll(t, file)
		for i, b := range blocks {
			holed := slices.Insert(slices.Clone(file), int(b.Offset+b.Size), garbage...)
			got, records, fixes, problems := readAll(t, holed)
			if len(problems) != 1 || !strings.Contains(problems[0].Error(), fmt.Sprintf("at offset %#x: no block begins here: 200 bytes are not read", b.Offset+b.Size)) {
				t.Errorf("order %v, behind block %d: got problems %v; want one, of 200 bytes", order, i, problems)
			}
			if len(got) != 3 || fixes[WrongExtents]+fixes[CutRecord]+fixes[TypedExtents] > 0 {
				t.Errorf("order %v, behind block %d: got %d blocks, %v; want 3, no fixes", order, i, len(got), fixes)
			}
			for j := range records {
				if len(records[j]) != len(whole[j]) {
					t.Errorf("order %v, behind block %d: got block %d with %d records; want %d", order, i, j, len(records[j]), len(whole[j]))
				}
			}
		}
	}
}

// TestReader_FalseSizes: what a file claims costs nothing.
func TestReader_FalseSizes(t *testing.T) {
	file := everything(t, binary.LittleEndian)
	binary.LittleEndian.PutUint64(file[16:], 1<<39)
	binary.LittleEndian.PutUint64(file[33:], 1<<39)
	at := bytes.Index(file, []byte("custom")) - metadataSize
	binary.LittleEndian.PutUint32(file[at+1:], maxPayload)
	zeros := make([]byte, 1<<20)
	copy(zeros, file[:HeaderSize])
	for _, file := range [][]byte{file, zeros} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readAll(t, file)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
			t.Errorf("%d bytes allocated for a file of %d", got, len(file))
		}
	}
}

// TestReader_NoAllocation: reading costs no allocation per record.
func TestReader_NoAllocation(t *testing.T) {
	var out bytes.Buffer
	w, err := newWriter(&out, &Header{Order: binary.LittleEndian, Version: 5})
	if err != nil {
		t.Fatal(err)
	}
	w.Begin(&Block{TID: 1, TSC: 1})
	for i := range uint64(100_000) {
		w.Function(Kind(i%2), 5, i+2)
		if i%10 == 0 {
			w.CustomEvent(i+2, []byte("something"))
		}
	}
	w.End()
	n := testing.AllocsPerRun(1, func() {
		r, err := NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if records, err := countRecords(r); records != 110_000+5 || err != nil {
			t.Fatalf("%d records, %v", records, err)
		}
	})
	if n > 20 {
		t.Errorf("%.0f allocations", n)
	}
}

// countRecords reads one block.
func countRecords(r *Reader) (n int, err error) {
	if _, err := r.NextBlock(); err != nil {
		return 0, err
	}
	for {
		if _, err := r.Next(); err != nil {
			return n, nil
		}
		n++
	}
}

// TestReader_NoTrace: what is no trace is said to be none, and other logs of XRay are
// named.
func TestReader_NoTrace(t *testing.T) {
	file := everything(t, binary.LittleEndian)
	for _, test := range []struct {
		name   string
		change func(b []byte)
		not    bool
		want   string
	}{
		{"ELF", func(b []byte) { copy(b, "\x7fELF") }, true, "version is"},
		{"basic mode", func(b []byte) { b[2] = 0 }, false, "basic mode"},
		{"profiling mode", func(b []byte) { b[2] = 2 }, false, "profiling mode"},
		{"version 6", func(b []byte) { b[0] = 6 }, false, "only version 5 is known, of LLVM 8 to 22"},
	} {
		b := slices.Clone(file)
		test.change(b)
		_, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err == nil || errors.Is(err, ErrNotXRay) != test.not || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v; want errors.Is(err, ErrNotXRay) = %v, an error with %q", test.name, err, test.not, test.want)
		}
	}
}

// TestReader_OldTraces: traces of runtimes of LLVM 5, 6 and 7 are not read, and the error says why.
func TestReader_OldTraces(t *testing.T) {
	for version, name := range map[int]string{1: "llvm-version-1", 2: "v2-llvm6", 3: "llvm-version-3"} {
		file := testrec.Gunzip(t, filepath.Join("testdata", "old", name+".xray.gz"))
		_, err := NewReader(bytes.NewReader(file), int64(len(file)))
		want := fmt.Sprintf("version %d is not read: LLVM 5 to 7 wrote such traces; only those of LLVM 8 or newer are read", version)
		if !errors.Is(err, ErrOldVersion) || errors.Is(err, ErrNotXRay) || !strings.Contains(err.Error(), want) || !Looks(file) {
			t.Errorf("%s: got %v; want a trace of an old version, and an error with %q", name, err, want)
		}
	}
}
