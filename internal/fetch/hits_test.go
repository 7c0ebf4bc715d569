package fetch_test

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/fetch"
	"github.com/jitinject/jitinject/internal/testrec"
)

// wanted returns the numbers of the objects that a hand-made result needs: N of jitted-5-N.so.
func wanted(t *testing.T, rec *testrec.Recording) (numbers string, sum *fetch.Summary) {
	t.Helper()
	dir := t.TempDir()
	rec.Write(t, filepath.Join(dir, "out.data"))
	sum, err := fetch.Run(t.Context(), fetch.Options{Input: filepath.Join(dir, "out.data"), Force: true, DryRun: true, Cache: filepath.Join(dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range sum.Missing {
		numbers += strings.TrimSuffix(strings.TrimPrefix(filepath.Base(m.Path), "jitted-5-"), ".so")
	}
	return numbers, sum
}

// Every address of a sample counts, in the process of the mapping and in those forked from it.
func TestHits_AddressesOfSamples(t *testing.T) {
	const everything = 1<<25 - 1
	for name, c := range map[string]struct {
		want  string
		touch testrec.Touch
	}{
		"none":                {"", testrec.Touch{PID: 5, IP: 0x500, Addr: 0xfff}},
		"sampled address":     {"1", testrec.Touch{PID: 5, IP: 0x1000}},
		"last byte":           {"1", testrec.Touch{PID: 5, IP: 0x1fff}},
		"after the last call": {"12", testrec.Touch{PID: 5, IP: 0x2000}},
		"after the last":      {"3", testrec.Touch{PID: 5, IP: 0x4000}},
		"beyond":              {"", testrec.Touch{PID: 5, IP: 0x4001}},
		"data address":        {"3", testrec.Touch{PID: 5, Addr: 0x3001}},
		"callchain":           {"23", testrec.Touch{PID: 5, Chain: []uint64{^uint64(511), 0x2fff, 0x3fff}}},
		"branches":            {"13", testrec.Touch{PID: 5, Branches: [][2]uint64{{0x1001, 0x9000}, {0x9000, 0x3001}}}},
		"registers":           {"2", testrec.Touch{PID: 5, ABI: 2, User: []uint64{0x2001, 1}, Intr: []uint64{1, 2}}},
		"stack":               {"3", testrec.Touch{PID: 5, ABI: 2, User: []uint64{1, 2}, Intr: []uint64{1, 2}, Stack: binary.LittleEndian.AppendUint64(nil, 0x3001)}},
		"forked child":        {"1", testrec.Touch{PID: 6, IP: 0x1001}},
		"its child":           {"1", testrec.Touch{PID: 7, IP: 0x1001}},
		"another process":     {"", testrec.Touch{PID: 8, IP: 0x1001}},
		"again mapped":        {"49", testrec.Touch{PID: 9, IP: 0x5001}},
	} {
		rec := testrec.NewRecording()
		rec.SampleType, rec.Registers = everything, 0x8001
		rec.Mmap2(5, 10, 0x1000, 0x1000, 0, "/x/jitted-5-1.so")
		rec.Mmap2(5, 11, 0x2000, 0x1000, 0, "/x/jitted-5-2.so")
		rec.Mmap2(5, 12, 0x3000, 0x1000, 0, "/x/jitted-5-3.so")
		rec.Mmap2(5, 12, 0x500, 0x100, 0, "/x/libother.so")
		rec.Mmap2(9, 12, 0x5000, 0x1000, 0, "/x/jitted-5-4.so")
		rec.Mmap2(9, 13, 0x5000, 0x800, 0, "/x/jitted-5-9.so")
		rec.Fork(6, 5, 20)
		rec.Fork(7, 6, 30)
		c.touch.Time = 400
		rec.Touch(c.touch)
		if got, sum := wanted(t, rec); got != c.want || sum.Objects != 5 || sum.Wanted != len(c.want) || !sum.Unwinds {
			t.Errorf("%s: got objects %q, %+v; want %q of 5", name, got, sum, c.want)
		}
	}
}

// Where the samples do not show what perf looks up, all objects are wanted, and a note says why.
func TestHits_Unknowable(t *testing.T) {
	rec := testrec.NewRecording()
	rec.SampleType = testrec.IP | testrec.Time
	rec.Mmap2(5, 10, 0x1000, 0x1000, 0, "/x/jitted-5-1.so")
	got, sum := wanted(t, rec)
	if got != "1" || len(sum.Notes) != 1 || !strings.Contains(sum.Notes[0], "do not name their processes; all objects are fetched") {
		t.Errorf("got objects %q, notes %q; want 1, and a note about processes", got, sum.Notes)
	}
}

// A path may have had several objects: perf shows each.
func TestHits_BuildIDs(t *testing.T) {
	rec := testrec.NewRecording()
	mmap := func(time, addr uint64, id byte) {
		body := binary.LittleEndian.AppendUint64(nil, 5|5<<32)
		for _, v := range []uint64{addr, 0x1000, 0} {
			body = binary.LittleEndian.AppendUint64(body, v)
		}
		body = append(append(body, 20, 0, 0, 0), slices.Repeat([]byte{id}, 20)...)
		body = append(body, 5, 0, 0, 0, 2, 0, 0, 0)
		rec.Kernel(10, 2|1<<14, append(body, "/x/jitted-5-1.so\x00"...), 5, time)
	}
	mmap(10, 0x1000, 0xaa)
	mmap(20, 0x1000, 0xbb)
	mmap(30, 0x5000, 0xbb)
	mmap(40, 0x8000, 0xcc)
	rec.Sample(5, 50, 0x1001)
	_, sum := wanted(t, rec)
	if sum.Objects != 3 || len(sum.Missing) != 2 || sum.Missing[0].BuildID != strings.Repeat("aa", 20) || sum.Missing[1].BuildID != strings.Repeat("bb", 20) {
		t.Errorf("got %+v; want the objects aa… and bb… of 3", sum)
	}
}
