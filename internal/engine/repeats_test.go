package engine_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Code that is loaded where the same is already is counted, and has no second object;
// anything else has one. Names are right either way.
func TestRepeats_SamePlace(t *testing.T) {
	const addr = 0x20000
	again := func(time uint64, name string, seed byte, size int) timed {
		return load(time, 100, 2, addr, name, code(size, seed))
	}
	line := func(time uint64, n uint32) timed {
		return timed{time, jitdump.NewDebugInfo(binary.LittleEndian, addr, []jitdump.DebugEntry{{Addr: addr, Line: n, Name: []byte("a.js")}})}
	}
	other := func(time, at uint64) timed { return load(time, 100, 3, at, "other", code(32, 9)) }
	for _, c := range []struct {
		what     string
		repeated int
		recs     []timed // after those of "first"
		at       uint64  // is asked about at time 900
		sym      string
	}{
		{"equal", 1, []timed{line(200, 7), again(200, "first", 1, 64)}, addr + 8, "first+0x8"},
		{"another name", 0, []timed{line(200, 7), again(200, "second", 1, 64)}, addr + 8, "second+0x8"},
		{"other code", 0, []timed{line(200, 7), again(200, "first", 2, 64)}, addr + 8, "first+0x8"},
		{"longer code", 0, []timed{line(200, 7), again(200, "first", 1, 72)}, addr + 64, "first+0x40"},
		{"another line", 0, []timed{line(200, 8), again(200, "first", 1, 64)}, addr + 8, "first+0x8"},
		{"no line", 0, []timed{again(200, "first", 1, 64)}, addr + 8, "first+0x8"},
		{"replaced in between", 0, []timed{other(150, addr+16), line(200, 7), again(200, "first", 1, 64)}, addr + 24, "first+0x18"},
		{"replaced from below", 0, []timed{other(150, addr-16), line(200, 7), again(200, "first", 1, 64)}, addr + 8, "first+0x8"},
		{"replaced by code of its place", 0, []timed{line(150, 7), load(150, 100, 3, addr, "other", code(64, 9)), line(200, 7), again(200, "first", 1, 64)}, addr + 8, "first+0x8"},
		{"replaced before", 1, []timed{other(50, addr+16), line(200, 7), again(200, "first", 1, 64)}, addr + 24, "first+0x18"},
		{"replaced after", 1, []timed{line(200, 7), again(200, "first", 1, 64), other(300, addr+16)}, addr + 24, "other+0x8"},
		{"a neighbour", 1, []timed{other(150, addr+64), line(200, 7), again(200, "first", 1, 64)}, addr + 72, "other+0x8"},
		{"moved in between", 0, []timed{move(150, 100, 1, addr, 0x30000, 64), line(200, 7), again(200, "first", 1, 64)}, 0x30008, "first+0x8"},
		{"by a child", 0, []timed{line(200, 7), {200, &jitdump.Load{PID: 101, TID: 101, VMA: addr, CodeAddr: addr, CodeIndex: 2, Name: []byte("first"), Code: code(64, 1)}}}, addr + 8, "first+0x8"},
		{"three times", 2, []timed{line(200, 7), again(200, "first", 1, 64), line(300, 7), again(300, "first", 1, 64)}, addr + 8, "first+0x8"},
	} {
		for _, stacks := range []uint64{0, testrec.StackUser} {
			t.Run(fmt.Sprintf("%s, stacks %v", c.what, stacks != 0), func(t *testing.T) {
				w := newWorld(t)
				w.SampleType |= stacks
				w.mark(100, 10, "jit-100.dump")
				w.Fork(101, 100, 120)
				w.dump("jit-100.dump", x86(100), append([]timed{line(100, 7), load(100, 100, 1, addr, "first", code(64, 1))}, c.recs...)...)
				w.expect(100, 110, addr+8, "first+0x8")
				w.expect(101, 190, addr+8, "first+0x8") // inherited
				w.expect(100, 900, c.at, c.sym)
				if sum := w.check(); sum.Dumps[0].Repeated != c.repeated {
					t.Errorf("%d functions are repeated, want %d", sum.Dumps[0].Repeated, c.repeated)
				}
			})
		}
	}
}

// A file mapped over code hides it, and code that is loaded again is there again.
func TestRepeats_FileBetween(t *testing.T) {
	const addr = 0x20000
	for _, c := range []struct {
		name     string
		at       uint64 // of the mapping
		repeated int
	}{{"over it", addr - 0x1000, 0}, {"after it", addr + 0x1000, 1}} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.mark(100, 10, "jit-100.dump")
			w.dump("jit-100.dump", x86(100), load(100, 100, 1, addr, "first", code(64, 1)), load(200, 100, 2, addr, "first", code(64, 1)))
			put(t, w.path("library"), make([]byte, 0x2000)) // other code
			var st unix.Stat_t
			if err := unix.Stat(w.path("library"), &st); err != nil {
				t.Fatal(err)
			}
			w.Major, w.Minor = unix.Major(st.Dev), unix.Minor(st.Dev)
			w.FileMmap2(100, 150, c.at, 0x2000, 0, w.path("library"), st.Ino)
			w.expect(100, 900, addr+8, "first+0x8")
			if sum := w.check(); sum.Dumps[0].Repeated != c.repeated {
				t.Errorf("%d functions are repeated, want %d", sum.Dumps[0].Repeated, c.repeated)
			}
		})
	}
}

// Code of a file that is logged at its home and at a copy is one function, named at both,
// whichever comes first, and whether perf unwinds or not.
func TestRepeats_CopiesOfFiles(t *testing.T) {
	const home, copied = 0x400000, 0x7f5500000000
	for _, stacks := range []uint64{0, testrec.StackUser} {
		for _, addrs := range [][2]uint64{{home, copied}, {copied, home}} {
			t.Run(fmt.Sprintf("%#x first, stacks %v", addrs[0], stacks != 0), func(t *testing.T) {
				w := newWorld(t)
				w.SampleType |= stacks
				w.Major, w.Minor = 8, 1
				w.mark(100, 10, "jit-100.dump")
				w.FileMmap2(100, 20, home, 0x2000, 0x1000, "/nowhere/program", 77)
				w.FileMmap2(100, 30, copied, 0x2000, 0x1000, "/nowhere/program", 77)
				w.dump("jit-100.dump", x86(100),
					load(100, 100, 1, addrs[0]+0x100, "Builtin:One", code(64, 1)), load(101, 100, 2, addrs[0]+0x140, "Builtin:Two", code(64, 2)),
					load(200, 100, 3, addrs[1]+0x100, "Builtin:One", code(64, 1)), load(201, 100, 4, addrs[1]+0x140, "Builtin:Two", code(64, 2)))
				for i, addr := range addrs {
					w.expect(100, 500+uint64(i), addr+0x108, "Builtin:One+0x8")
					w.expect(100, 510+uint64(i), addr+0x148, "Builtin:Two+0x8")
				}
				sum := w.check()
				if want := 2; stacks != 0 && sum.Dumps[0].Repeated != want {
					t.Errorf("%d functions are repeated, want %d", sum.Dumps[0].Repeated, want)
				}
			})
		}
	}
}
