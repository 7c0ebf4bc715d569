package cost

import (
	"fmt"
	"os"
	"strings"
)

// logOnly makes a process of V8 whose only source is a log.
func logOnly(body func(b *strings.Builder, size int)) func(s *scene, size int) {
	return func(s *scene, size int) {
		s.Machine = "x86_64"
		s.Comm(pid, s.tick(), "node", true)
		s.Mmap2(pid, s.tick(), base-1<<20, 1<<32, 0, "//anon")
		s.samples(100)
		var b strings.Builder
		b.WriteString(logHead)
		b.WriteString("script-source,1,/a.js,text\n")
		body(&b, size)
		s.must(os.WriteFile(s.path(fmt.Sprintf("isolate-0x1-%d-v8.log", pid)), []byte(b.String()), 0o644))
	}
}

// fill writes lines until there are about size bytes.
func fill(b *strings.Builder, size int, line func(i int)) {
	for i := 0; b.Len() < size; i++ {
		line(i)
	}
}

var logRuns = []string{"inject -i perf.data", "verify isolate-0x1-4711-v8.log", "dump isolate-0x1-4711-v8.log", "dump --json isolate-0x1-4711-v8.log"}

var worstLogs = []worst{
	{"v8 log", "isolates", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) { b.WriteString("v8-version,1,3,4,8,0\n") })
	}), logRuns},
	{"v8 log", "isolates with code", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) {
			fmt.Fprintf(b, "v8-version,1,3,4,8,0\ncode-creation,JS,13,1,%#x,64,f /a.js:1:1,0x20,*\n", place(i))
		})
	}), logRuns},
	{"v8 log", "isolates at one place", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) {
			fmt.Fprintf(b, "v8-version,1,3,4,8,0\ncode-creation,JS,13,1,%#x,64,f /a.js:1:1,0x20,*\n", place(0))
		})
	}), logRuns},
	{"v8 log", "creations", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) { fmt.Fprintf(b, "code-creation,Builtin,2,%d,%#x,64,f\n", i, place(i)) })
	}), logRuns},
	{"v8 log", "creations with positions", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) {
			fmt.Fprintf(b, "code-creation,JS,13,%d,%#x,64,f /a.js:1:1,0x20,*\ncode-source-info,%#x,1,0,4,C0O0,,\n", i, place(i), place(i))
		})
	}), logRuns},
	{"v8 log", "overlapping creations", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) {
			fmt.Fprintf(b, "code-creation,JS,13,%d,%#x,%d,f /a.js:1:1,0x20,*\n", i, place(0)-uint64(i), 100000000)
		})
	}), logRuns},
	{"v8 log", "code moves", logOnly(func(b *strings.Builder, size int) {
		fmt.Fprintf(b, "code-creation,JS,13,1,%#x,64,f /a.js:1:1,0x20,*\n", place(0))
		fill(b, size, func(i int) { fmt.Fprintf(b, "code-move,%#x,%#x\n", place(i), place(i+1)) })
	}), logRuns},
	{"v8 log", "code deletes", logOnly(func(b *strings.Builder, size int) {
		fmt.Fprintf(b, "code-creation,JS,13,1,%#x,64,f /a.js:1:1,0x20,*\n", place(0))
		fill(b, size, func(i int) { fmt.Fprintf(b, "code-delete,%#x\n", place(i)) })
	}), logRuns},
	{"v8 log", "scripts", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) { fmt.Fprintf(b, "script-source,%d,,\n", i) })
	}), logRuns},
	{"v8 log", "script of lines", logOnly(func(b *strings.Builder, size int) {
		fmt.Fprintf(b, "script-source,2,/b.js,%s\n", strings.Repeat("\\n", size/2))
		fmt.Fprintf(b, "code-creation,JS,13,1,%#x,64,f /b.js:1:1,0x20,*\ncode-source-info,%#x,2,0,4,C0O0,,\n", place(0), place(0))
	}), logRuns},
	{"v8 log", "scripts of one long name", logOnly(func(b *strings.Builder, size int) {
		name := strings.Repeat("n", size/2)
		fmt.Fprintf(b, "script-source,2,/%s.js,x\n", name)
		fill(b, size, func(i int) {
			fmt.Fprintf(b, "code-creation,JS,13,%d,%#x,64,f /b.js:1:1,%#x,*\ncode-source-info,%#x,2,0,1,C0O0,,\n", i, place(i), 0x100+8*i, place(i))
		})
	}), logRuns},
	{"v8 log", "name inlined everywhere", logOnly(func(b *strings.Builder, size int) {
		name := strings.Repeat("n", size/20)
		fmt.Fprintf(b, "code-creation,JS,10,1,0x10,64,%s /a.js:1:1,0x8,~\ncode-source-info,0x10,1,0,4,C0O0,,\n", name)
		fill(b, size, func(i int) {
			fmt.Fprintf(b, "code-creation,JS,13,%d,%#x,64,f /a.js:1:1,0x20,*\ncode-source-info,%#x,1,0,1,C0O0C8O0I0,F0O0,S0x8\n", i, place(i), place(i))
		})
	}), logRuns},
	{"v8 log", "positions", logOnly(func(b *strings.Builder, size int) {
		fmt.Fprintf(b, "code-creation,JS,13,1,%#x,%d,f /a.js:1:1,0x20,*\ncode-source-info,%#x,1,0,4,", place(0), size, place(0))
		fill(b, size, func(i int) { fmt.Fprintf(b, "C%dO%d", i, i%4) })
		b.WriteString(",,\n")
	}), logRuns},
	{"v8 log", "positions of two depths", logOnly(func(b *strings.Builder, size int) {
		fmt.Fprintf(b, "code-creation,JS,13,1,%#x,%d,f /a.js:1:1,0x20,*\ncode-source-info,%#x,1,0,4,", place(0), size, place(0))
		depth := 0
		fill(b, size/2, func(i int) { depth++; fmt.Fprintf(b, "C%dO%dI%d", i, i%4, []int{0, 1 << 20}[i%2]) })
		b.WriteString(",")
		fill(b, size, func(i int) {
			fmt.Fprint(b, "F0O0")
			if i > 0 {
				fmt.Fprintf(b, "I%d", i-1)
			}
		})
		b.WriteString(",S0x20\n")
	}), logRuns},
	{"v8 log", "sfi moves", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) { fmt.Fprintf(b, "sfi-move,0x%x,0x%x\n", i, i+1) })
	}), logRuns},
	{"v8 log", "damage", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) { b.WriteString("\n") })
	}), logRuns},
	{"v8 log", "damaged creations", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) { b.WriteString("code-creation,JS,1,1,0x1,1,f\n") })
	}), logRuns},
	{"v8 log", "long names inlined", logOnly(func(b *strings.Builder, size int) {
		name := strings.Repeat("n", 1000)
		n := size / 4000
		for i := range n {
			fmt.Fprintf(b, "code-creation,JS,10,1,0x10,64,%s%d /a.js:1:1,%#x,~\ncode-source-info,0x10,1,0,4,C0O0,,\n", name, i, 0x100+8*i)
		}
		fill(b, size, func(i int) {
			fmt.Fprintf(b, "code-creation,JS,13,%d,%#x,64,f /a.js:1:1,0x20,*\ncode-source-info,%#x,1,0,1,", i, place(i), place(i))
			for k := range min(n, 60) {
				fmt.Fprintf(b, "C%dO0I%d", k, k)
			}
			b.WriteString(",")
			for k := range min(n, 60) {
				fmt.Fprintf(b, "F%dO0", k)
			}
			b.WriteString(",")
			for k := range min(n, 60) {
				fmt.Fprintf(b, "S%#x", 0x100+8*((i+k)%n))
			}
			b.WriteString("\n")
		})
	}), logRuns},
	{"v8 log", "files inlined", logOnly(func(b *strings.Builder, size int) {
		url := strings.Repeat("n", 1000)
		n := size / 4000
		for i := range n {
			fmt.Fprintf(b, "script-source,%d,/%s%d,x\ncode-creation,JS,10,1,0x10,64,f /b.js:1:1,%#x,~\ncode-source-info,0x10,%d,0,1,C0O0,,\n", i+2, url, i, 0x100+8*i, i+2)
		}
		fill(b, size, func(i int) {
			fmt.Fprintf(b, "code-creation,JS,13,%d,%#x,64,f /a.js:1:1,0x20,*\ncode-source-info,%#x,1,0,1,", i, place(i), place(i))
			for k := range min(n, 60) {
				fmt.Fprintf(b, "C%dO0I%d", k, k)
			}
			b.WriteString(",")
			for k := range min(n, 60) {
				fmt.Fprintf(b, "F%dO0", k)
			}
			b.WriteString(",")
			for k := range min(n, 60) {
				fmt.Fprintf(b, "S%#x", 0x100+8*((i+k)%n))
			}
			b.WriteString("\n")
		})
	}), logRuns},
	{"v8 log", "code in turns at one place", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) { fmt.Fprintf(b, "code-creation,JS,13,%d,%#x,64,f%d /a.js:1:1,0x20,*\n", i, place(i%2), i) })
	}), logRuns},
	{"v8 log", "sizes from large to small", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) {
			fmt.Fprintf(b, "code-creation,JS,13,%d,%#x,%d,f /a.js:1:1,0x20,*\n", i, place(0)+uint64(i), max(1, size/10-2*i))
		})
	}), logRuns},
	{"v8 log", "small code over large code", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) { fmt.Fprintf(b, "code-creation,JS,13,%d,%#x,64,f /a.js:1:1,0x20,*\n", i, place(2*i)) })
		fmt.Fprintf(b, "code-creation,JS,13,100000,%#x,%d,f /a.js:1:1,0x20,*\n", place(0), 10_000_000)
	}), logRuns},
	{"v8 log", "isolates over each other", logOnly(func(b *strings.Builder, size int) {
		fill(b, size, func(i int) {
			fmt.Fprintf(b, "v8-version,1,3,4,8,0\ncode-creation,JS,13,%d,%#x,64,f%d /a.js:1:1,0x20,*\n", i, place(i%2), i)
		})
	}), logRuns},
	{"v8 log", "isolates, much sampled", func(s *scene, size int) {
		logOnly(func(b *strings.Builder, size int) {
			fill(b, size, func(i int) {
				fmt.Fprintf(b, "v8-version,1,3,4,8,0\ncode-creation,JS,13,%d,%#x,64,f%d /a.js:1:1,0x20,*\n", i, place(i), i)
			})
		})(s, size/2)
		s.samples(size / 80)
	}, nil},
	{"v8 log", "samples", func(s *scene, size int) {
		logOnly(func(b *strings.Builder, size int) {
			fill(b, size, func(i int) {
				fmt.Fprintf(b, "code-creation,JS,13,%d,%#x,64,f%d /a.js:1:1,0x20,*\n", i, place(i), i)
			})
		})(s, size/2)
		s.samples(size / 80)
	}, nil},
	{"v8 log", "logs of processes", func(s *scene, size int) {
		s.Machine = "x86_64"
		for i := range size / 400 {
			s.Comm(child(i), s.tick(), "node", true)
			s.memory(child(i))
			s.sampleOf(child(i))
			s.must(os.WriteFile(s.path(fmt.Sprintf("isolate-0x1-%d-v8.log", child(i))), fmt.Appendf(nil, "v8-version,1,3,4,8,0\ncode-creation,JS,13,1,%#x,640,f /a.js:1:1,0x20,*\n", base), 0o644))
		}
	}, nil},
	{"v8 log", "logs of other processes", func(s *scene, size int) {
		s.Machine = "x86_64"
		for i := range size / 400 {
			s.Comm(child(i), s.tick(), "node", true)
			s.memory(child(i))
			s.sampleOf(child(i))
			s.must(os.WriteFile(s.path(fmt.Sprintf("isolate-0x1-%d-v8.log", 1e8+i)), fmt.Appendf(nil, "v8-version,1,3,4,8,0\ncode-creation,JS,13,1,%#x,640,f /a.js:1:1,0x20,*\n", base), 0o644))
		}
	}, nil},
	{"v8 log", "logs of children of a process with mappings", func(s *scene, size int) {
		s.Machine = "x86_64"
		s.Comm(pid, s.tick(), "node", true)
		s.grow(size/3, func(i int) { s.Mmap2(pid, s.tick(), base+1<<33+uint64(i)<<13, 4096, 0, "//anon") })
		for i := range size / 400 {
			s.Fork(child(i), pid, s.tick())
			s.memory(child(i))
			s.sampleOf(child(i))
			s.must(os.WriteFile(s.path(fmt.Sprintf("isolate-0x1-%d-v8.log", child(i))), fmt.Appendf(nil, "v8-version,1,3,4,8,0\ncode-creation,JS,13,1,%#x,640,f /a.js:1:1,0x20,*\n", base), 0o644))
		}
	}, nil},
	{"v8 log", "logs of one process", func(s *scene, size int) {
		s.unlogged("node")
		for i := range size / 110 {
			s.must(os.WriteFile(s.path(fmt.Sprintf("isolate-0x%x-%d-v8.log", i+1, pid)), fmt.Appendf(nil, "v8-version,1,3,4,8,0\ncode-creation,JS,13,1,%#x,64,f /a.js:1:1,0x20,*\n", place(i)), 0o644))
		}
	}, nil},
	{"v8 log", "logs and dumps of one process", func(s *scene, size int) {
		v := s.newV8(child(0))
		for i := range size / 500 {
			fmt.Fprintf(&v.log, "%sscript-source,1,/a.js,text\n", logHead)
			v.created("f /a.js:1:1", place(i), room, 0, "C0O0,,")
			v.load("f /a.js:1:1", place(i), room)
			v.writeLog(i)
		}
		v.write(1 << 20)
	}, nil},
}
