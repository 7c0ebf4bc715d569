package jitdump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// A dump that is scanned in pieces has what it has when it is scanned as a whole, damaged or not.
func TestScan_InPieces(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	r := rand.New(rand.NewPCG(1, 2))
	files := make(map[string][]byte)
	for _, name := range []string{"node-hot/jit-538", "node25-dwarf/jit-16508", "lli-many/O2", "php/jit-10085", "java27/jit-11273",
		"erlang/jit-10050", "jsc/jit-18541-18516", "toyjit/jit-23056", "moarvm-dump/jit-27662", "v8log-chromium/jit-11964"} {
		file, err := os.ReadFile(filepath.Join(testrec.Unpack(t, filepath.Dir(name)), filepath.Base(name)+".dump"))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = file
	}
	for i := range testrec.Rounds(100, 30) {
		files[fmt.Sprint("made ", i)] = mixed(t, r, i%3 == 0, i%3 == 1)
	}
	joined := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := files[name]
		for round := range testrec.Rounds(20, 5) {
			b := bytes.Clone(file)
			for range round {
				b[64+r.IntN(len(b)-64)] ^= 1 << r.IntN(8)
			}
			if round%3 == 2 {
				b = b[:r.IntN(len(b))+64]
			}
			var scans [2][]any
			for i := range scans {
				d, err := OpenFile(bytes.NewReader(b))
				if err != nil {
					t.Fatal(err)
				}
				d.scanner.size, d.scanner.pieceSize = int64(len(b)), int64(len(b)) // one piece
				if i > 0 {
					d.scanner.pieceSize = int64(256 + r.IntN(len(b)/4+1))
				}
				records := d.scanner.records
				if err := d.Scan(t.Context()); err != nil {
					t.Fatal(err)
				}
				if d.scanner.records != records { // those of a piece
					joined++
				}
				scans[i] = []any{d.Events, d.functions, d.others, d.withoutCode, d.batches, d.sources, d.traces, d.high, d.Unknown, d.Problems, d.Dropped, d.Cut, d.Orphans(), d.Fixes()}
			}
			if !reflect.DeepEqual(scans[0], scans[1]) {
				t.Errorf("%s, round %d: got %+v; want %+v", name, round, scans[1], scans[0])
			}
		}
	}
	if joined < 100 {
		t.Errorf("got %d dumps with pieces; want 100 at least", joined)
	}
}

// mixed returns a dump with debug records that come early or describe no function. Its code is salted, or some of it moves.
func mixed(t *testing.T, r *rand.Rand, salted, moves bool) []byte {
	var out bytes.Buffer
	w, err := jitdump.NewWriter(&out, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: 62, PID: 100})
	if err != nil {
		t.Fatal(err)
	}
	last, salt, few := uint64(2000), r.Uint64(), r.IntN(200)
	for i := range last {
		addr := func(i uint64) uint64 { return 0x10000 + i*64 }
		code := binary.LittleEndian.AppendUint64(nil, salt^(i<<32^8))
		if !salted || i == last-1 && r.IntN(2) == 0 {
			code = make([]byte, 8)
		}
		recs := []jitdump.Record{&jitdump.Load{PID: 100, TID: 100, VMA: addr(i), CodeAddr: addr(i), CodeIndex: i, Name: fmt.Append(nil, "function", i), Code: code}}
		if i%7 > 0 && r.IntN(few+1) == 0 {
			recs = append(recs, jitdump.NewDebugInfo(binary.LittleEndian, addr(i+r.Uint64N(3)), []jitdump.DebugEntry{{Addr: addr(i), Line: 1, Name: []byte("a.c")}}))
		}
		if i%1000 == 500 && few%2 == 0 { // neither is of the next function
			recs = append(recs, tree("a"), tree("b"))
		}
		if moves && r.IntN(300) == 0 {
			of := i - r.Uint64N(min(i+1, 100))
			recs = append(recs, &jitdump.Move{PID: 100, TID: 100, OldCodeAddr: addr(of), NewCodeAddr: addr(of + last), CodeSize: 8, CodeIndex: of})
		}
		for _, rec := range recs {
			if err := w.Write(i, rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out.Bytes()
}

// tree returns a record of inlined calls in a function of a name.
func tree(name string) jitdump.Record {
	return &jitdump.DebugInfo2{Names: [][]byte{[]byte(name)}, Functions: make([]jitdump.SourceFunction, 1), Calls: make([]jitdump.InlineCall, 1)}
}
