package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

func isEOF(err error) bool { return errors.Is(err, io.EOF) && !errors.Is(err, jitdump.ErrCut) }

// What real runtimes wrote, counted by another program (a Python script that
// walks the records), and read and written again to the last byte.
func TestReader_RealDumps(t *testing.T) {
	for _, c := range []struct {
		recording, dump      string
		loads, debugs, other int
		entries              int // that can be walked
		firstName, lastName  string
	}{
		{"node-fp", "jit-9906.dump", 2464, 26, 2464, 0, "Builtin:DeoptimizationEntry_Eager", "JS:~setHasRejectionToWarn node:internal/process/promises:155:31"},
		{"erlang", "jit-10050.dump", 15817, 6098, 0, 31658, "global::apply_fun_shared", ""},
		{"php", "jit-10085.dump", 44, 0, 1, 0, "", ""},
		{"lli-hot", "jit-585.dump", 2, 2, 0, 0, "hot", "main"},
	} {
		t.Run(c.recording, func(t *testing.T) {
			dump, err := os.ReadFile(filepath.Join(testrec.Unpack(t, c.recording), c.dump))
			if err != nil {
				t.Fatal(err)
			}
			h, recs, times := readAll(t, dump)
			loads, debugs, other, entries := 0, 0, 0, 0
			var first, last string
			for _, rec := range recs {
				switch rec := rec.(type) {
				case *jitdump.Load:
					if loads == 0 {
						first = string(rec.Name)
					}
					last = string(rec.Name)
					loads++
				case *jitdump.DebugInfo:
					debugs++
					for _, err := range rec.Entries() {
						if err == nil {
							entries++
						}
					}
				default:
					other++
				}
			}
			if loads != c.loads || debugs != c.debugs || other != c.other {
				t.Errorf("%d loads, %d debug records, %d others; want %d, %d, %d", loads, debugs, other, c.loads, c.debugs, c.other)
			}
			if c.entries != 0 && entries != c.entries {
				t.Errorf("%d debug entries, want %d", entries, c.entries)
			}
			if c.firstName != "" && first != c.firstName || c.lastName != "" && last != c.lastName {
				t.Errorf("first and last function are %q and %q, want %q and %q", first, last, c.firstName, c.lastName)
			}
			if got := writeAll(t, h, recs, times); !bytes.Equal(got, dump) {
				t.Error("written again, it differs")
			}
		})
	}
}

// load is a record for tests of framing.
func load(name string) *jitdump.Load {
	return &jitdump.Load{PID: 1, TID: 1, CodeAddr: 0x1000, CodeIndex: 1, Name: []byte(name), Code: []byte{0x90, 0xc3}}
}

func dumpOf(t testing.TB, order binary.ByteOrder, recs ...jitdump.Record) []byte {
	times := make([]uint64, len(recs))
	for i := range times {
		times[i] = uint64(i + 1)
	}
	return writeAll(t, &jitdump.Header{Order: order, Version: 1, Machine: 62, PID: 1}, recs, times)
}

// names reads on to the end and returns the names of all loads, and the error
// that ended it.
func names(r *jitdump.Reader) (names []string, err error) {
	for {
		raw, err := r.Next()
		if err != nil {
			return names, err
		}
		if raw.ID == jitdump.IDLoad {
			l, err := raw.Load()
			if err != nil {
				return names, err
			}
			names = append(names, string(l.Name))
		}
	}
}

func wantNames(t *testing.T, dump []byte, want string) {
	t.Helper()
	r, err := jitdump.NewReader(bytes.NewReader(dump))
	if err != nil {
		t.Fatal(err)
	}
	got, err := names(r)
	if strings.Join(got, " ") != want || !isEOF(err) {
		t.Errorf("read %v and then %v; want %s and the end", got, err, want)
	}
}

func TestReader_RecordsAfterClose(t *testing.T) {
	wantNames(t, dumpOf(t, binary.LittleEndian, load("a"), &jitdump.Close{}, &jitdump.Unknown{ID: 1000}, load("b")), "a b")
}

func TestReader_VersionsAndLongHeaders(t *testing.T) {
	for version := range uint32(3) {
		for _, extra := range []int{0, 1, 24, 80, 4056, 300 << 10} {
			h := &jitdump.Header{Version: version, Machine: 62, Extra: bytes.Repeat([]byte{0xee}, extra)}
			dump := writeAll(t, h, []jitdump.Record{load("a")}, []uint64{1})
			wantNames(t, dump, "a")
			if h2, recs, times := readAll(t, dump); !bytes.Equal(writeAll(t, h2, recs, times), dump) {
				t.Errorf("version %d, header of %d bytes: written again, it differs", version, 40+extra)
			}
		}
	}
}

func TestReader_ShortHeaderSize(t *testing.T) {
	dump := dumpOf(t, binary.LittleEndian, load("a"))
	binary.LittleEndian.PutUint32(dump[8:], 0) // total_size, as perf takes it
	wantNames(t, dump, "a")
}

func TestReader_HeaderInvalid(t *testing.T) {
	good := dumpOf(t, binary.LittleEndian)
	edit := func(at int, v uint32) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	for _, c := range []struct {
		name, want string
		dump       []byte
		foreign    bool
	}{
		{"empty", "it is empty", nil, true},
		{"text", `begins with 23 21 2f 62`, []byte("#!/bin/sh\n"), true},
		{"two bytes", "begins with 4a 69", []byte("Ji"), true},
		{"cut", "elf_mach at offset 0xc: needs 4 bytes, 2 are left", good[:14], false},
		{"version", "version at offset 0x4: is 3; 0, 1 and 2 are known", edit(4, 3), false},
		{"size", "more than any header needs", edit(8, 1<<30), false},
		{"size beyond the file", "the file ends here, at 40", edit(8, 4096), false},
	} {
		_, err := jitdump.NewReader(bytes.NewReader(c.dump))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if errors.Is(err, jitdump.ErrNotJitdump) != c.foreign {
			t.Errorf("%s: %v: is it a jitdump or not?", c.name, err)
		}
	}
}

// Zero bytes of any number between records are padding, in both byte orders, and
// for records whose own first bytes are zeros.
func TestReader_PaddingBetweenRecords(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		big := load("b")
		big.Code = make([]byte, 65536-16-40-2) // total_size 0x10000: five to six zero bytes in front
		for i := range big.Code {
			big.Code[i] = 0x90
		}
		for _, second := range []jitdump.Record{load("b"), big, jitdump.NewDebugInfo(order, 0x1000, []jitdump.DebugEntry{{Addr: 0x1000, Line: 1, Name: []byte("f")}})} {
			first := dumpOf(t, order, load("a"))
			rest := dumpOf(t, order, second, load("c"))[40:]
			want := "a b c"
			if _, isLoad := second.(*jitdump.Load); !isLoad {
				want = "a c"
			}
			for _, n := range []int{4, 8, 12, 16, 24, 100, 4096, 300_000} {
				dump := append(append(bytes.Clone(first), make([]byte, n)...), rest...)
				r, err := jitdump.NewReader(bytes.NewReader(dump))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := names(r); strings.Join(got, " ") != want || !isEOF(err) {
					t.Errorf("for %v, %d zeros before %T: got %v and then %v, want %s and then io.EOF", order, n, second, got, err, want)
				}
			}
		}
	}
}

func TestReader_PaddingAtEnd(t *testing.T) {
	for _, n := range []int{1, 7, 15, 16, 17, 4096, 300_000} {
		wantNames(t, append(dumpOf(t, binary.LittleEndian, load("a")), make([]byte, n)...), "a")
	}
}

// growing is a file that its writer has not finished.
type growing struct{ data []byte }

func (g *growing) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(g.data).ReadAt(p, off)
}

// A dump that is cut anywhere gives the records before the cut, and the cut one
// as soon as the file has grown. That holds for zero padding, too.
func TestReader_GrowingDump(t *testing.T) {
	whole := dumpOf(t, binary.LittleEndian, load("a"), load("b"))
	whole = append(append(whole, make([]byte, 24)...), dumpOf(t, binary.LittleEndian, load("c"), &jitdump.Close{})[40:]...)
	for cut := 40; cut <= len(whole); cut++ {
		g := &growing{whole[:cut]}
		r, err := jitdump.NewReader(g)
		if err != nil {
			t.Fatal(err)
		}
		before, err := names(r)
		if !isEOF(err) && !errors.Is(err, jitdump.ErrCut) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		g.data = whole
		after, err := names(r)
		if got := strings.Join(append(before, after...), " "); got != "a b c" || !isEOF(err) {
			t.Fatalf("cut at %d: read %v, later %v and %v", cut, before, after, err)
		}
	}
}

// A record that says that it has gigabytes is not a reason to ask for them.
func TestReader_HugeRecord(t *testing.T) {
	dump := dumpOf(t, binary.LittleEndian, load("a"))
	dump = binary.LittleEndian.AppendUint32(dump, 0)
	dump = binary.LittleEndian.AppendUint32(dump, 0xffffffff)
	dump = append(dump, make([]byte, 8)...)
	allocated := testing.AllocsPerRun(1, func() {
		r, err := jitdump.NewReader(bytes.NewReader(dump))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := names(r); len(got) != 1 || !errors.Is(err, jitdump.ErrCut) || !strings.Contains(err.Error(), "offset 0x64") {
			t.Errorf("read %v and then %v", got, err)
		}
	})
	if allocated > 100 {
		t.Errorf("got %v allocations; want 100 at most", allocated)
	}
}

// Counts inside a record are checked against the record.
func TestReader_BadBodies(t *testing.T) {
	le := binary.LittleEndian
	edit := func(rec jitdump.Record, at int, v uint64) []byte {
		b := dumpOf(t, le, rec)
		le.PutUint64(b[40+16+at:], v)
		return b
	}
	info := jitdump.NewDebugInfo(le, 0x1000, []jitdump.DebugEntry{{Addr: 0x1000, Line: 1, Name: []byte("f")}})
	noNUL := dumpOf(t, le, load("a"))
	for i := 40 + 16 + 40; i < len(noNUL); i++ {
		noNUL[i] = 'x'
	}
	for _, c := range []struct {
		name, want string
		dump       []byte
	}{
		{"code_size", "JIT_CODE_LOAD: code at offset 0x62: code_size is 18446744073709551615, but 2 bytes of the record are left", edit(load("a"), 24, 1<<64-1)},
		{"name", "JIT_CODE_LOAD: name at offset 0x60: no NUL", noNUL},
		{"unwind_data_size", "unwinding_data at offset 0x50: needs 4294967296 bytes, 8 are left", edit(&jitdump.Unwinding{Data: make([]byte, 8)}, 0, 1<<32)},
		{"eh_frame_hdr_size", "is 9, more than all 8 bytes", edit(&jitdump.Unwinding{Data: make([]byte, 8)}, 8, 9)},
		{"nr_entry", "JIT_CODE_DEBUG_INFO: addr at offset 0x5a", edit(info, 8, 1<<60)},
	} {
		r, err := jitdump.NewReader(bytes.NewReader(c.dump))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		rec, err := raw.Decode()
		if info, ok := rec.(*jitdump.DebugInfo); ok {
			for _, err = range info.Entries() {
			}
		}
		var e *jitdump.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Behind damage, Resync finds the next record that adds up.
func TestReader_ResyncBehindDamage(t *testing.T) {
	first := dumpOf(t, binary.LittleEndian, load("a"))
	rest := dumpOf(t, binary.LittleEndian, load("b"), load("c"))[40:]
	for _, damage := range [][]byte{
		{5, 0, 0, 0, 7, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, // a size smaller than its own prefix
		append([]byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f}, bytes.Repeat([]byte{0xcc}, 1000)...),
		bytes.Repeat([]byte{0xff}, 300_000),
	} {
		dump := append(append(bytes.Clone(first), damage...), rest...)
		r, err := jitdump.NewReader(bytes.NewReader(dump))
		if err != nil {
			t.Fatal(err)
		}
		before, err := names(r)
		if err == nil || isEOF(err) {
			t.Fatalf("damage % x goes unnoticed", damage[:8])
		}
		skipped, ok := r.Resync()
		if !ok || skipped != int64(len(damage)) {
			t.Fatalf("Resync stepped over %d bytes, %v; want %d", skipped, ok, len(damage))
		}
		after, err := names(r)
		if got := strings.Join(append(before, after...), " "); got != "a b c" || !isEOF(err) {
			t.Errorf("read %s and then %v", got, err)
		}
	}
	r, err := jitdump.NewReader(bytes.NewReader(append(first, 9, 9, 9, 9, 1, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9)))
	if err != nil {
		t.Fatal(err)
	}
	names(r)
	if _, ok := r.Resync(); ok {
		t.Error("Resync found a record where none is")
	}
}

// sparse is a file of zeros with some bytes at its start.
type sparse struct {
	head []byte
	size int64
}

func (s *sparse) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), max(0, s.size-off)))
	clear(p[:n])
	if off < int64(len(s.head)) {
		copy(p[:n], s.head[off:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// A file that claims to hold gigabytes costs nothing to make.
func TestReader_SparseFile(t *testing.T) {
	dump := dumpOf(t, binary.LittleEndian, load("a"), &jitdump.Unknown{ID: 1000, Body: make([]byte, 8)})
	at := len(dump) - 24
	binary.LittleEndian.PutUint32(dump[at+4:], 3<<30)
	for _, c := range []struct {
		size int64
		want error
	}{{int64(at) + 3<<30, jitdump.ErrTooLarge}, {int64(at) + 3<<30 - 1, jitdump.ErrCut}} {
		r, err := jitdump.NewReader(&sparse{dump, c.size})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = r.Next()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, c.want) {
			t.Errorf("got %v, want %v", err, c.want)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%d bytes of memory taken", got)
		}
		if _, err := r.Next(); c.want == jitdump.ErrTooLarge && err != io.EOF {
			t.Errorf("behind it: %v", err)
		}
	}
}
