package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Recordings that are damaged: a sentence, or an output that perf reads as far as
// it reads the recording.

// outcome injects a damaged recording. It fails if that takes long, if an error
// says nothing, or if an error comes with an output.
func outcome(t *testing.T, what, dir string, damaged []byte) (output string, ok bool) {
	t.Helper()
	in, out := filepath.Join(dir, "damaged.data"), filepath.Join(dir, "out.data")
	put(t, in, damaged)
	os.Remove(out)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := engine.Run(ctx, config.Options{Input: in, Output: out, Objects: filepath.Join(dir, "objects")})
	switch {
	case ctx.Err() != nil:
		t.Fatalf("%s: it takes forever", what)
	case err == nil:
		return out, true
	case len(err.Error()) < 20 || !strings.Contains(err.Error(), "damaged.data") && !strings.Contains(err.Error(), ".dump"):
		t.Errorf("%s: the error is %q", what, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Errorf("%s: there is an error and an output", what)
	}
	return "", false
}

// readsAsWell wants a perf that reads the recording to read the output, too.
func readsAsWell(t *testing.T, what, dir, output string) {
	t.Helper()
	perf := testrec.Tool(t, "perf")
	read := func(file string) error {
		return testrec.Command(t, dir, perf, "script", "-G", "-F", "ip", "-i", file).Run()
	}
	if before := read("damaged.data"); before == nil {
		if after := read(output); after != nil {
			t.Errorf("%s: perf reads the recording but not the output: %v", what, after)
		}
	}
}

// boundaries returns where the records of a little-endian file begin, and where
// the last one ends.
func boundaries(b []byte) (at []uint64) {
	le := binary.LittleEndian
	pos, end := le.Uint64(b[40:]), le.Uint64(b[40:])+le.Uint64(b[48:])
	for ; pos < end; pos += uint64(le.Uint16(b[pos+6:])) {
		at = append(at, pos)
	}
	return append(at, end)
}

// The end is missing, at every record and elsewhere: as perf leaves a file when it
// is killed (then the header says that there is no data), as copying leaves one
// when the disk is full, and with a header that knows of the cut.
func TestRecording_CutAnywhere(t *testing.T) {
	dir := testrec.Place(t, "php")
	whole := read(t, filepath.Join(dir, "perf.data"))
	le := binary.LittleEndian
	at := boundaries(whole)
	start, end := at[0], at[len(at)-1]
	rnd := rand.New(rand.NewPCG(1, 2))
	marked := at[20] // the marker is one of the first records
	at = testrec.Chosen(t, at, 80, 400)
	for range 30 {
		at = append(at, rnd.Uint64N(uint64(len(whole))))
	}
	for i, cut := range at {
		b := bytes.Clone(whole[:cut])
		if output, ok := outcome(t, fmt.Sprintf("cut at %#x", cut), dir, b); ok {
			t.Errorf("cut at %#x: there is an output, %s", cut, output)
		}
		if cut < start || cut > end {
			continue
		}
		clear(b[48:56])
		clear(b[72:104])
		killed := fmt.Sprintf("killed at %#x", cut)
		output, ok := outcome(t, killed, dir, b)
		if !ok && cut > marked {
			t.Errorf("%s: there is no output", killed)
		}
		if ok && i%20 == 0 {
			readsAsWell(t, killed, dir, output)
		}
		le.PutUint64(b[48:], cut-start)
		sized := fmt.Sprintf("cut at %#x, with the size in the header", cut)
		if output, ok := outcome(t, sized, dir, b); ok && i%20 == 10 {
			readsAsWell(t, sized, dir, output)
		}
	}
}

// Bits flip anywhere.
func TestRecording_BitsFlipped(t *testing.T) {
	dir := testrec.Place(t, "php")
	whole := read(t, filepath.Join(dir, "perf.data"))
	swapped := swap(t, whole)
	rnd := rand.New(rand.NewPCG(3, 4))
	worked := 0
	for i := range 300 {
		b := bytes.Clone(whole)
		if i%3 == 0 {
			b = bytes.Clone(swapped)
		}
		end := len(b)
		if i%2 == 0 {
			end = 264 + 1000 // header, attr, the first records
		}
		for range 1 + i%4 {
			b[rnd.IntN(end)] ^= 1 << rnd.IntN(8)
		}
		if _, ok := outcome(t, fmt.Sprintf("flipped bits, run %d", i), dir, b); ok {
			worked++
		}
	}
	if worked < 50 {
		t.Errorf("only %d of 300 worked", worked)
	}
}

// Features that are longer, shorter, elsewhere, on top of each other.
func TestRecording_FeaturesMisplaced(t *testing.T) {
	dir := testrec.Place(t, "php")
	whole := read(t, filepath.Join(dir, "perf.data"))
	le := binary.LittleEndian
	data := le.Uint64(whole[40:])
	table := data + le.Uint64(whole[48:])
	n := int(le.Uint64(whole[table:])-table) / 16
	if n < 10 {
		t.Fatalf("%d features", n)
	}
	for i := range n {
		entry := table + 16*uint64(i)
		offset, size := le.Uint64(whole[entry:]), le.Uint64(whole[entry+8:])
		for j, section := range [][2]uint64{
			{offset, 0}, {offset, size + 1}, {offset, max(size, 1) - 1}, {offset, 3}, {offset + 1, size}, {0, 104}, {data, 64}, {table, 16}, {entry, 16},
			{0, 0}, {offset, uint64(len(whole)) - offset}, {offset, 1 << 40}, {1 << 63, 1 << 63}, {^uint64(0), 2},
		} {
			b := bytes.Clone(whole)
			le.PutUint64(b[entry:], section[0])
			le.PutUint64(b[entry+8:], section[1])
			what := fmt.Sprintf("feature %d of %d is %d bytes at %#x", i, n, section[1], section[0])
			if output, ok := outcome(t, what, dir, b); ok {
				checkFeatures(t, what, b, read(t, output))
				if (i+j)%40 == 0 {
					readsAsWell(t, what, dir, output)
				}
			}
		}
	}
	// Bits for features that nobody has heard of yet: they go through.
	b := bytes.Clone(whole)
	b[72+31] = 0x80 // feature 255, whose section would be in the gap or the first feature
	outcome(t, "feature 255", dir, b)
}

// checkFeatures wants all features to be what they were, but for the build-id
// table, which grows, and the index of AUXTRACE records.
func checkFeatures(t *testing.T, what string, in, out []byte) {
	t.Helper()
	a, err := perfdata.Open(bytes.NewReader(in), int64(len(in)))
	if err != nil {
		t.Fatalf("for %v: unexpected error: %v", what, err)
	}
	b, err := perfdata.Open(bytes.NewReader(out), int64(len(out)))
	if err != nil || len(a.Features) != len(b.Features) {
		t.Fatalf("%s: %d features became %d, %v", what, len(a.Features), len(b.Features), err)
	}
	for i := range a.Features {
		was, err := a.Features[i].Bytes()
		is, err2 := b.Features[i].Bytes()
		if err != nil || err2 != nil {
			t.Errorf("for %v: got %v, %v; want no errors", what, err, err2)
		}
		if a.Features[i].ID == perfdata.FeatureBuildID {
			is = is[:min(len(was), len(is))]
		}
		if !bytes.Equal(was, is) {
			t.Errorf("%s: feature %d changed", what, a.Features[i].ID)
		}
	}
}

// Records out of their rounds, as a kernel with a broken clock writes them.
func TestRecording_RecordsOutOfRounds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		w := newWorld(t)
		w.mark(100, 1000, "jit-100.dump")
		for i := range 200 {
			switch rnd.IntN(10) {
			case 0:
				w.Round()
			default:
				w.Sample(100, uint64(1000+rnd.IntN(4000)), 0x10000+uint64(i%128))
			}
		}
		w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)), load(3000, 100, 2, 0x10040, "beta", code(64, 2)))
		sum, err := w.run()
		if err != nil || !sum.Complete() || sum.Mappings != 2 {
			t.Fatalf("got %s, %v; want no error, nothing missing, Mappings = 2", asJSON(sum), err)
		}
		in, out := rawRecords(t, read(t, w.opts.Input)), rawRecords(t, read(t, w.opts.Output))
		at := 0
		for _, rec := range out {
			if at < len(in) && rec == in[at] {
				at++
			} else if strings.Contains(in[at], ".dump") && at+1 < len(in) && rec == in[at+1] {
				at += 2
			} else if !strings.Contains(rec, "/jitted-") {
				t.Fatalf("a record comes out of nowhere: % x", rec)
			}
		}
		if at != len(in) {
			t.Errorf("%d of %d records are there", at, len(in))
		}
		readsAsWell(t, "rounds out of order", w.dir, w.opts.Output)
	}
}

func rawRecords(t *testing.T, b []byte) (recs []string) {
	t.Helper()
	f, err := perfdata.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for r := f.Blocks(); ; {
		block, err := r.Next()
		if errors.Is(err, io.EOF) {
			return recs
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range block.Records() {
			recs = append(recs, string(rec.Data))
		}
	}
}
