package cost

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// Logs of V8 beside dumps. Streams have none.
func TestWork_TwiceTheLog(t *testing.T) {
	for i, in := range logSeries {
		t.Run(in.name, func(t *testing.T) {
			tried := modes[:2]
			if os.Getenv("JITINJECT_ALL") == "" {
				tried = tried[i%2:][:1]
			}
			for _, mode := range tried {
				t.Run(mode.name, func(t *testing.T) { in.compare(t, mode) })
			}
		})
	}
}

// A v8 is a process of V8: a dump and a log.
type v8 struct {
	s    *scene
	pid  uint32
	dump bytes.Buffer
	w    *jitdump.Writer
	log  strings.Builder
}

// logHead begins the log of an isolate. The script is one line of a million units.
const logHead = "v8-version,11,3,244,8,0\n"

var logScript = "script-source,1,/a.js," + strings.Repeat("x", 1_000_000) + "\n"

// newV8 begins a process with a recorded dump, and a log with a script.
func (s *scene) newV8(pid uint32) *v8 {
	s.t.Helper()
	v := &v8{s: s, pid: pid}
	w, err := jitdump.NewWriter(&v.dump, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(elf.EM_X86_64), Pad: 0xdeadbeef, PID: pid})
	s.must(err)
	v.w = w
	s.Comm(pid, s.tick(), "node", true)
	s.Marker(pid, s.tick(), s.ownDump(pid))
	s.Mmap2(pid, s.tick(), base-1<<20, 1<<32, 0, "//anon")
	v.log.WriteString(logHead)
	return v
}

// microsecond returns the time of the log's next line.
func (v *v8) microsecond() uint64 { return (v.s.tick() - second) / 1000 }

// load adds optimized code with one line to the dump, and samples it.
func (v *v8) load(name string, addr uint64, size int) {
	v.s.t.Helper()
	v.s.must(v.w.Write(v.s.now, lines(addr, jitdump.DebugEntry{Addr: addr, Line: 1, Discrim: 1, Name: []byte("/a.js")})))
	v.s.must(v.w.Write(v.s.now, &jitdump.Load{PID: v.pid, TID: v.pid, VMA: addr, CodeAddr: addr, CodeIndex: uint64(v.s.now), Name: []byte("JS:*" + name), Code: code(int(v.s.now), size)}))
	v.s.Sample(v.pid, v.s.tick(), addr+8)
}

// created adds optimized code to the log, of a function at unit of script 1, with the lists of its
// code-source-info.
func (v *v8) created(name string, addr uint64, size, unit int, lists string) {
	fmt.Fprintf(&v.log, "code-creation,JS,13,%d,%#x,%d,%s,%#x,*\ncode-source-info,%#x,1,%d,%d,%s\n", v.microsecond(), addr, size, name, 0x100000+8*unit, addr, unit, unit+1, lists)
}

// both adds the i-th function, optimized, to the log and to the dump.
func (v *v8) both(i int, lists string) {
	v.s.t.Helper()
	name := fmt.Sprintf("fn%d /a.js:1:%d", i, i+1)
	v.created(name, place(i), room, i, lists)
	v.load(name, place(i), room)
}

// listed has the positions of a function that calls another one, inlined, which is i units later.
func listed(i int) string { return fmt.Sprintf("C0O%dC8O%dI0,F0O%d,S%#x", i, i, i, 0x100000+8*i) }

// write writes the dump, and the log for an isolate.
func (v *v8) write(isolate int) {
	v.s.t.Helper()
	v.s.must(os.WriteFile(v.s.ownDump(v.pid), v.dump.Bytes(), 0o644))
	v.writeLog(isolate)
}

func (v *v8) writeLog(isolate int) (path string) {
	v.s.t.Helper()
	path = v.s.path(fmt.Sprintf("isolate-%#x-%d-v8.log", isolate, v.pid))
	v.s.must(os.WriteFile(path, []byte(v.log.String()), 0o644))
	v.log.Reset()
	return path
}

// logged returns a series of one process with ten functions, and more of the log.
func logged(more func(v *v8, n int)) func(s *scene, n int) {
	return func(s *scene, n int) {
		v := s.newV8(child(0))
		v.log.WriteString(logScript)
		for i := range 10 {
			v.both(i, listed(i))
		}
		more(v, n)
		v.write(1)
	}
}

// logSeries are logs, with the dumps that they describe.
var logSeries = []series{
	{"functions", 250, logged(func(v *v8, n int) {
		for i := range n {
			v.both(10+i, listed(10+i))
		}
	})},
	{"bytecode", 4000, logged(func(v *v8, n int) {
		for i := range n {
			fmt.Fprintf(&v.log, "code-creation,JS,10,%d,%#x,%d,fn%d /a.js:1:%d,%#x,~\ncode-source-info,%#x,1,%d,%d,C0O%d,,\n", v.microsecond(), place(i)+1<<40, room, i, i+1, 0x100000+8*i, place(i)+1<<40, i, i+1, i)
		}
	})},
	{"code that is not in the dump", 2000, logged(func(v *v8, n int) {
		for i := range n {
			v.created(fmt.Sprintf("fn%d /a.js:1:%d", i, i+1), place(i)+1<<40, room, i, listed(i))
		}
	})},
	{"creations without a source", 4000, logged(func(v *v8, n int) {
		for i := range n {
			fmt.Fprintf(&v.log, "code-creation,JS,13,%d,%#x,64,fn%d /a.js:1:1,0x20,*\n", v.microsecond(), place(i), i)
		}
	})},
	{"names without an end", 4000, logged(func(v *v8, n int) {
		for i := range n {
			fmt.Fprintf(&v.log, "code-creation,JS,13,%d,%#x,64,fn\n", v.microsecond(), place(i))
		}
	})},
	{"positions of one function", 4000, logged(func(v *v8, n int) {
		var positions strings.Builder
		for i := range n {
			fmt.Fprintf(&positions, "C%dO%d", i, i)
		}
		v.created("f /a.js:1:1", base+1<<30, n+room, 0, positions.String()+",,")
		v.load("f /a.js:1:1", base+1<<30, n+room)
	})},
	{"inlined calls of one function", 2000, logged(func(v *v8, n int) { v.calls(n, func(i int) string { return "" }) })},
	{"inlined calls in each other", 2000, logged(func(v *v8, n int) {
		v.calls(n, func(i int) string {
			if i > 0 {
				return fmt.Sprintf("I%d", i-1)
			}
			return ""
		})
	})},
	{"inlined calls in a later one", 2000, logged(func(v *v8, n int) {
		v.calls(n, func(i int) string {
			if i+1 < n {
				return fmt.Sprintf("I%d", i+1)
			}
			return ""
		})
	})},
	{"small functions after a large one", 250, logged(func(v *v8, n int) {
		v.calls(20*n, func(i int) string { return "" })
		for i := range n {
			v.both(10+i, listed(10+i))
		}
	})},
	{"moves", 4000, logged(func(v *v8, n int) {
		for i := range n {
			fmt.Fprintf(&v.log, "sfi-move,%#x,%#x\n", 0x900000+8*i, 0x800000+8*i)
		}
	})},
	{"moves of one function", 4000, logged(func(v *v8, n int) {
		for i := range n {
			fmt.Fprintf(&v.log, "sfi-move,%#x,%#x\n", 0x100000+8*i, 0x100000+8*(i+1))
		}
	})},
	{"scripts", 1000, logged(func(v *v8, n int) {
		for i := range n {
			fmt.Fprintf(&v.log, "script-source,%d,/b%d.js,text\ncode-creation,JS,10,1,0x10,9,f /b%d.js:1:1,%#x,~\ncode-source-info,0x10,%d,0,4,,,\n", i+2, i, i, 0x900000+8*i, i+2)
		}
	})},
	{"lines of a script", 8000, logged(func(v *v8, n int) {
		fmt.Fprintf(&v.log, "script-source,2,/b.js,%s\n", strings.Repeat("line\\n", n))
	})},
	{"isolates", 250, func(s *scene, n int) {
		v := s.newV8(child(0))
		for i := range n {
			fmt.Fprintf(&v.log, "%sscript-source,1,/a.js,text\n", logHead)
			v.created("f /a.js:1:1", place(i), room, 0, "C0O0,,")
			v.load("f /a.js:1:1", place(i), room)
		}
		v.write(1)
	}},
	{"isolates without code", 4000, logged(func(v *v8, n int) {
		for range n {
			v.log.WriteString(logHead)
		}
	})},
	{"reused address", 1000, logged(func(v *v8, n int) {
		for range n {
			v.created("f /a.js:1:1", base+1<<30, room, 0, "C0O0,,")
			v.load("f /a.js:1:1", base+1<<30, room)
		}
	})},
	{"reused address, other names", 500, logged(func(v *v8, n int) {
		for i := range n {
			name := fmt.Sprintf("fn%d /a.js:1:%d", i, i+1)
			v.created(name, base+1<<30, room, i, listed(i))
			v.load(name, base+1<<30, room)
		}
	})},
	{"reused address, other isolates", 250, func(s *scene, n int) {
		v := s.newV8(child(0))
		for range n {
			fmt.Fprintf(&v.log, "%sscript-source,1,/a.js,text\n", logHead)
			v.created("f /a.js:1:1", base, room, 0, "C0O0,,")
			v.load("f /a.js:1:1", base, room)
		}
		v.write(1)
	}},
	{"logs of one process", 100, func(s *scene, n int) {
		v := s.newV8(child(0))
		for i := range n {
			fmt.Fprintf(&v.log, "%sscript-source,1,/a.js,text\n", logHead)
			v.created("f /a.js:1:1", place(i), room, 0, "C0O0,,")
			v.load("f /a.js:1:1", place(i), room)
			if i < n-1 {
				v.writeLog(i)
			}
		}
		v.write(n)
	}},
	{"logs of other runs", 250, logged(func(v *v8, n int) {
		right := v.log.String()
		for i := range n {
			v.log.Reset()
			fmt.Fprintf(&v.log, "%sscript-source,1,/a.js,text\n", logHead)
			v.created("f /a.js:1:1", place(i)+1<<40, room, 0, "C0O0,,")
			v.writeLog(i + 2)
		}
		v.log.WriteString(right)
	})},
	{"files with names of logs", 1000, logged(func(v *v8, n int) {
		for i := range n {
			v.s.must(os.WriteFile(v.s.path(fmt.Sprintf("isolate-%#x-%d-v8.log", i+2, v.pid)), nil, 0o644))
		}
	})},
	{"dumps and logs", 150, func(s *scene, n int) {
		for i := range n {
			s.processOfV8(i).write(1)
		}
	}},
	{"dumps and named logs", 50, func(s *scene, n int) {
		for i := range n {
			v := s.processOfV8(i)
			log := v.log.String()
			v.write(1)
			s.must(os.Remove(s.path(fmt.Sprintf("isolate-0x1-%d-v8.log", v.pid))))
			name := fmt.Sprintf("%d.log", i)
			s.must(os.WriteFile(s.path(name), []byte(log), 0o644))
			s.files = append(s.files, name)
		}
	}},
	{"dumps and named logs, the same addresses", 50, func(s *scene, n int) {
		for i := range n {
			v := s.newV8(child(i))
			fmt.Fprintf(&v.log, "script-source,1,/a.js,text\n")
			v.created("f /a.js:1:1", base, room, 0, "C0O0,,")
			v.load("f /a.js:1:1", base, room)
			name := fmt.Sprintf("%d.log", i)
			s.must(os.WriteFile(s.path(name), []byte(v.log.String()), 0o644))
			s.files = append(s.files, name)
			s.must(os.WriteFile(s.ownDump(v.pid), v.dump.Bytes(), 0o644))
		}
	}},
}

// processOfV8 makes the i-th process, with addresses of its own.
func (s *scene) processOfV8(i int) *v8 {
	s.t.Helper()
	v := s.newV8(child(i))
	fmt.Fprintf(&v.log, "script-source,1,/a.js,text\n")
	for k := range 3 {
		v.created("f /a.js:1:1", place(10*i+k), room, 0, "C0O0,,")
		v.load("f /a.js:1:1", place(10*i+k), room)
	}
	return v
}

// calls adds a function with n inlined calls, one after the other. parent is the I entry of a call.
func (v *v8) calls(n int, parent func(i int) string) {
	v.s.t.Helper()
	var positions, calls strings.Builder
	for i := range n {
		fmt.Fprintf(&positions, "C%dO%dI%d", i, i, i)
		fmt.Fprintf(&calls, "F0O%d%s", i, parent(i))
	}
	v.created("f /a.js:1:1", base+1<<30, n+room, 0, positions.String()+","+calls.String()+",S0x100008")
	v.load("f /a.js:1:1", base+1<<30, n+room)
}
