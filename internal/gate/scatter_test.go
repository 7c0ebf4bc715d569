package gate

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// TestScatteredHeap_NoStackIsShorter compares recordings of code without frame pointers
// with the same recordings after scatter. Unwind tables need addresses within 2 GiB of their
// code: where the heap is scattered, those between its parts.
func TestScatteredHeap_NoStackIsShorter(t *testing.T) {
	testrec.Tool(t, "perf")
	for _, name := range []string{"toyjit-dwarf", "llvm-orc"} {
		t.Run(name, func(t *testing.T) {
			plain, scattered := testrec.Place(t, name), testrec.Place(t, name)
			if err := scatter(scattered, firstCode(t, scattered)); err != nil {
				t.Fatal(err)
			}
			for version, perf := range testrec.Perfs(t) {
				want, got := samplesOf(t, perf, plain), samplesOf(t, perf, scattered)
				t.Logf("%s: %v; scattered: %v", version, judge.CountOf(want), judge.CountOf(got))
				report(t, version+": a scattered heap beside none", judge.Real(judge.Compare(want, got)))
				if len(got) != len(want) {
					t.Errorf("%s: %d samples, want %d", version, len(got), len(want))
				}
			}
		})
	}
}

// samplesOf injects a recording and returns what a perf shows of it.
func samplesOf(t *testing.T, perf, dir string) []judge.Sample {
	t.Helper()
	out := filepath.Join(dir, "out.data")
	if _, err := inject.Run(t.Context(), inject.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: filepath.Join(dir, "objects")}); err != nil {
		t.Fatal(err)
	}
	samples, err := judge.Script(t.Context(), perf, out)
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

// firstCode returns the address of the first function of the dump in a directory.
func firstCode(t *testing.T, dir string) uint64 {
	t.Helper()
	f, err := os.Open(testrec.Dumps(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := jitdump.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if load, err := rec.Load(); err == nil {
			return load.CodeAddr
		}
	}
}

// scatter adds anonymous mappings to the perf.data of an unpacked recording, as a
// runtime with a scattered heap has them: one of 256 KiB in each MiB within 2 GiB of an
// address, and 128 more at distances of 4 GiB. They belong to the process of the first
// marker and come after it. It leaves out those that would overlap a mapping of the
// recording or share the MiB of the address.
func scatter(dir string, around uint64) error {
	const (
		size = 256 << 10
		mib  = 1 << 20
		gib  = 1 << 30

		// MMAP2 records: a name after head bytes, before trailer bytes; bits of misc
		head, trailer = 72, 16
		buildID, data = 1 << 14, 1 << 13
	)
	return testrec.Rewrite(dir, func(in []byte) (out []byte) {
		le := binary.LittleEndian
		var marker []byte
		used := make(map[uint64]bool) // MiB of the address space
		use := func(addr, length uint64) {
			for at := addr / mib; at <= (addr+length)/mib && at-addr/mib < 4096; at++ {
				used[at] = true
			}
		}
		use(around, 0)
		for rec := range testrec.Records(in) {
			name, _ := testrec.MappedFile(rec)
			if name == "" {
				continue
			}
			use(le.Uint64(rec[16:]), le.Uint64(rec[24:]))
			if marker == nil && strings.Contains(name, "/jit-") {
				marker = rec
			}
		}
		heap := func(addr uint64) (rec []byte) {
			if used[addr/mib] {
				return nil
			}
			rec = append(bytes.Clone(marker[:head]), "//anon\x00\x00"...)
			rec = append(rec, marker[len(marker)-trailer:]...)
			le.PutUint16(rec[4:], le.Uint16(rec[4:])&^buildID|data)
			le.PutUint16(rec[6:], uint16(len(rec)))
			clear(rec[32:head]) // no offset, no file
			le.PutUint64(rec[16:], addr)
			le.PutUint64(rec[24:], size)
			le.PutUint32(rec[64:], 3) // PROT_READ | PROT_WRITE
			le.PutUint32(rec[68:], 2) // MAP_PRIVATE
			return rec
		}
		for rec := range testrec.Records(in) {
			out = append(out, rec...)
			if marker == nil || &rec[0] != &marker[0] {
				continue
			}
			for addr := around&^(mib-1) - 2*gib; addr < around+2*gib; addr += mib {
				out = append(out, heap(addr)...)
			}
			for i := range uint64(128) {
				out = append(out, heap(0x100000000000+4*gib*i)...)
			}
		}
		return out
	})
}
