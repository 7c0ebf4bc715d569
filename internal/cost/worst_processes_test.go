package cost

import (
	"fmt"
	"os"
)

// grow calls add with 0, 1, 2 and so on until the recording has about size bytes.
func (s *scene) grow(size int, add func(i int)) {
	for i := 0; len(s.Data()) < size; i++ {
		add(i)
	}
}

// memory gives a process memory for code.
func (s *scene) memory(pid uint32) { s.Mmap2(pid, s.tick(), base-1<<20, 1<<32, 0, "//anon") }

// directories makes a directory for each KB, with files.
func (s *scene) directories(size int) {
	s.t.Helper()
	for i := range size / 1000 {
		dir := s.path(fmt.Sprint("dir", i))
		s.must(os.Mkdir(dir, 0o755))
		for k := range 5 {
			s.must(os.WriteFile(fmt.Sprint(dir, "/", k), make([]byte, 200), 0o644))
		}
	}
}

// Processes, and what they have in common.
var worstProcesses = []worst{
	{"process", "processes that name one dump", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) { s.Marker(child(i), s.tick(), s.path(dumpName)) })
	}, nil},
	{"process", "processes that name one dump, sampled", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.Marker(child(i), s.tick(), s.path(dumpName))
			s.memory(child(i))
			s.sampleOf(child(i))
		})
	}, nil},
	{"process", "processes that name a missing dump", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.Marker(child(i), s.tick(), s.path("jit-1.dump"))
			s.memory(child(i))
			s.sampleOf(child(i))
		})
	}, nil},
	{"process", "markers of missing dumps", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) { s.Marker(pid, s.tick(), s.ownDump(child(i))) })
	}, nil},
	{"process", "markers by turns", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) { s.Marker(child(i%100), s.tick(), s.path(dumpName)) })
	}, nil},
	{"process", "forks", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) { s.Fork(child(i), pid, s.tick()); s.sampleOf(child(i)) })
	}, nil},
	{"process", "chain of forks", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) { s.Fork(child(i), child(i-1), s.tick()); s.sampleOf(child(i)) })
	}, nil},
	{"process", "chain of forks with execs", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.Fork(child(i), child(i-1), s.tick())
			s.Comm(child(i), s.tick(), "x", true)
		})
	}, nil},
	{"process", "chain of forks with memory", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.Fork(child(i), child(i-1), s.tick())
			s.memory(child(i))
			s.sampleOf(child(i))
		})
	}, nil},
	{"process", "chain of forks with one mapping each", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.Fork(child(i), child(i-1), s.tick())
			s.Mmap2(child(i), s.tick(), base+1<<33+uint64(i)<<12, 4096, 0, "//anon")
			s.Sample(child(i), s.tick(), base+1<<33+8)
		})
	}, nil},
	{"process", "mappings, then forks", func(s *scene, size int) {
		s.started()
		s.grow(size/2, func(i int) { s.Mmap2(pid, s.tick(), base+1<<33+uint64(i)<<13, 4096, 0, "//anon") })
		s.grow(size, func(i int) {
			s.Fork(child(i), pid, s.tick())
			s.Sample(child(i), s.tick(), base+1<<33+8)
		})
	}, nil},
	{"process", "forks with dumps of the parent", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.Fork(child(i), pid, s.tick())
			s.Marker(child(i), s.tick(), s.path(dumpName))
			s.sampleOf(child(i))
		})
	}, nil},
	{"process", "threads", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.Kernel(7, 0, words(pid, pid, child(i), pid, s.tick()), pid, s.now)
			s.Kernel(3, 0, append(words(pid, child(i)), "thread\x00\x00"...), pid, s.tick())
		})
	}, nil},
	{"process", "functions that all children sample", func(s *scene, size int) {
		s.process()
		for i := range size / 300 {
			s.function(i)
		}
		s.grow(size/2, func(i int) { s.Fork(child(i), pid, s.tick()); s.Sample(child(i), s.tick(), place(i)) })
	}, nil},
	{"process", "functions that all processes name", func(s *scene, size int) {
		s.process()
		for i := range size / 300 {
			s.function(i)
		}
		s.grow(size/2, func(i int) {
			s.Marker(child(i), s.tick(), s.path(dumpName))
			s.memory(child(i))
			s.Sample(child(i), s.tick(), place(i))
		})
	}, nil},
	{"process", "samples in memory that moves", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.Mmap2(pid, s.tick(), base, 4096*uint64(1+i%3), 0, "//anon")
			s.Sample(pid, s.tick(), base+8)
		})
	}, nil},
	{"process", "mappings over each other", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.Mmap2(pid, s.tick(), base+1<<33-uint64(i)<<12, 8192*uint64(i+1), 0, "//anon")
		})
		s.samples(10)
	}, nil},
	{"process", "files over functions", func(s *scene, size int) {
		s.process()
		for i := range size / 300 {
			s.function(i)
		}
		s.grow(size/2, func(i int) { s.FileMmap2(pid, s.tick(), place(i*8)&^4095, 4096, 0, fmt.Sprint("/l", i), uint64(i+1)) })
		s.samples(10)
	}, nil},
	{"process", "one file mapped everywhere", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.FileMmap2(pid, s.tick(), base+1<<33+uint64(i)<<13, 4096, uint64(i)<<12, "/lib/l.so", 7)
			s.Sample(pid, s.tick(), base+1<<33+uint64(i)<<13)
		})
	}, nil},
	{"process", "deep chains", func(s *scene, size int) {
		s.SampleType |= 1 << 5
		s.process()
		n := size / 400
		for i := range n {
			s.function(i)
		}
		chain := make([]uint64, 1000)
		s.grow(size, func(i int) {
			for k := range chain {
				chain[k] = place((i+k)%n) + 8
			}
			s.Chain(pid, s.tick(), chain...)
		})
	}, nil},
	{"process", "addresses in no function", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) { s.Sample(pid, s.tick(), base+1<<20+uint64(i)*4096) })
	}, nil},
	{"process", "dumps", func(s *scene, size int) {
		for i := range size / 700 {
			s.Marker(child(i), s.tick(), s.ownDump(child(i)))
			s.memory(child(i))
			s.writeDump(child(i))
			s.sampleOf(child(i))
		}
	}, nil},
	{"process", "dumps of headers", func(s *scene, size int) {
		for i := range size / 300 {
			s.Marker(child(i), s.tick(), s.ownDump(child(i)))
			s.must(os.WriteFile(s.ownDump(child(i)), s.dump.Bytes(), 0o644))
		}
	}, nil},
	{"process", "dumps of one process", func(s *scene, size int) {
		s.memory(pid)
		for i := range size / 500 {
			s.Marker(pid, s.tick(), s.ownDump(child(i)))
			s.writeDump(child(i))
			s.sampleOf(pid)
		}
	}, nil},
	{"process", "dumps with one code", func(s *scene, size int) {
		s.memory(pid)
		for i := range size / 500 {
			s.Marker(pid, s.tick(), s.ownDump(child(i)))
			s.writeDump(child(i))
			s.Fork(child(i), pid, s.tick())
			s.sampleOf(child(i))
		}
	}, nil},
	{"process", "dumps that nothing names", func(s *scene, size int) {
		s.Comm(pid, s.tick(), "node", true)
		s.memory(pid)
		s.samples(10)
		for i := range size / 400 {
			s.writeDump(child(i))
		}
	}, []string{"inject -i perf.data --dump-dir ."}},
	{"process", "processes and dumps that nothing names", func(s *scene, size int) {
		for i := range size / 700 {
			s.Comm(child(i), s.tick(), "node", true)
			s.memory(child(i))
			s.writeDump(child(i))
			s.sampleOf(child(i))
		}
	}, []string{"inject -i perf.data --dump-dir ."}},
	{"process", "maps and processes", func(s *scene, size int) {
		s.Machine = "x86_64"
		for i := range size / 300 {
			s.Comm(child(i), s.tick(), "node", true)
			s.memory(child(i))
			s.sampleOf(child(i))
			s.must(os.WriteFile(s.path(fmt.Sprintf("perf-%d.map", child(i))), fmt.Appendf(nil, "%x 40 f\n", place(i)), 0o644))
		}
	}, nil},
	{"process", "maps of other processes", func(s *scene, size int) {
		s.Machine = "x86_64"
		for i := range size / 300 {
			s.Comm(child(i), s.tick(), "node", true)
			s.memory(child(i))
			s.sampleOf(child(i))
			s.must(os.WriteFile(s.path(fmt.Sprintf("perf-%d.map", 1_000_000+i)), fmt.Appendf(nil, "%x 40 f\n", place(i)), 0o644))
		}
	}, []string{"inject -i perf.data --dump-dir ."}},
	{"process", "processes and directories", func(s *scene, size int) {
		s.Machine = "x86_64"
		s.directories(size / 2)
		s.grow(size/2, func(i int) {
			s.Comm(child(i), s.tick(), "node", true)
			s.memory(child(i))
			s.sampleOf(child(i))
		})
	}, []string{"inject -i perf.data --dump-dir ."}},
	{"process", "markers of missing dumps and directories", func(s *scene, size int) {
		s.directories(size / 2)
		s.grow(size/2, func(i int) { s.Marker(child(i), s.tick(), s.ownDump(child(i))) })
	}, []string{"inject -i perf.data --dump-dir ."}},
	{"process", "mapped files and directories", func(s *scene, size int) {
		s.directories(size / 2)
		s.grow(size/2, func(i int) {
			s.FileMmap2(child(i), s.tick(), base, 4096, 0, s.path(fmt.Sprint("file", i)), uint64(i+1))
		})
	}, []string{"inject -i perf.data --dump-dir ."}},
	{"process", "functions in a dump and a map", func(s *scene, size int) {
		s.Machine = "x86_64"
		s.process()
		var m []byte
		for i := range size / 300 {
			s.function(i)
			m = fmt.Appendf(m, "%x 40 function%d\n", place(i), i)
		}
		s.must(os.WriteFile(s.path(fmt.Sprintf("perf-%d.map", pid)), m, 0o644))
		s.samples(size / 300)
	}, nil},
	{"process", "functions in a dump, overlapped by a map", func(s *scene, size int) {
		s.Machine = "x86_64"
		s.process()
		var m []byte
		for i := range size / 300 {
			s.function(i)
			m = fmt.Appendf(m, "%x %x other\n", place(i)-uint64(i), 2*i+1)
		}
		s.must(os.WriteFile(s.path(fmt.Sprintf("perf-%d.map", pid)), m, 0o644))
		s.samples(size / 300)
	}, nil},
	{"process", "two dumps of one process, overlapping", func(s *scene, size int) {
		s.process()
		s.Marker(pid, s.tick(), s.ownDump(1))
		for i := range size / 400 {
			s.function(i)
		}
		first := s.dump.Bytes()
		s.must(os.WriteFile(s.ownDump(1), first, 0o644))
		for i := range size / 400 {
			s.load(i, place(i)+32, 64)
		}
		s.samples(size / 400)
	}, nil},
	{"process", "functions of one address and rising sizes", func(s *scene, size int) {
		s.process()
		for i := range size / 2000 {
			s.load(i, base, 1000+i)
		}
		s.samples(10)
	}, []string{"inject -i perf.data", "inject -i perf.data --bundle --sampled"}},
	{"process", "holes and functions by turns", func(s *scene, size int) {
		s.process()
		for i := range size / 200 {
			s.load(i, base+uint64(i)<<16, 64)
			s.Sample(pid, s.tick(), base+uint64(i)<<16+8)
		}
	}, []string{"inject -i perf.data --bundle"}},
	{"process", "holes and functions by turns, 2 GB apart", func(s *scene, size int) {
		s.process()
		for i := range size / 300 {
			s.load(i, base+uint64(i)<<31, 64)
			s.Mmap2(pid, s.tick(), base+uint64(i)<<31, 4096, 0, "//anon")
			s.Sample(pid, s.tick(), base+uint64(i)<<31+8)
		}
	}, []string{"inject -i perf.data --bundle"}},
	{"process", "maps of children of a process with mappings", func(s *scene, size int) {
		s.Machine = "x86_64"
		s.Comm(pid, s.tick(), "prog", true)
		s.grow(size/3, func(i int) { s.Mmap2(pid, s.tick(), base+1<<33+uint64(i)<<13, 4096, 0, "//anon") })
		for i := range size / 400 {
			s.Fork(child(i), pid, s.tick())
			s.memory(child(i))
			s.sampleOf(child(i))
			s.must(os.WriteFile(s.path(fmt.Sprintf("perf-%d.map", child(i))), fmt.Appendf(nil, "%x 40 f\n", place(i)), 0o644))
		}
	}, nil},
	{"process", "dumps of children of a process with mappings", func(s *scene, size int) {
		s.Comm(pid, s.tick(), "prog", true)
		s.grow(size/3, func(i int) {
			s.FileMmap2(pid, s.tick(), base+1<<33+uint64(i)<<13, 4096, 0, fmt.Sprint("/l", i), uint64(i+1))
		})
		for i := range size / 900 {
			s.Fork(child(i), pid, s.tick())
			s.Marker(child(i), s.tick(), s.ownDump(child(i)))
			s.memory(child(i))
			s.writeDump(child(i))
			s.sampleOf(child(i))
		}
	}, []string{"inject -i perf.data", "inject -i perf.data --bundle --sampled"}},
	{"process", "a map of many processes", func(s *scene, size int) {
		s.Machine = "x86_64"
		s.grow(size, func(i int) {
			s.Fork(child(i), child(i-1), s.tick())
			s.memory(child(i))
		})
		s.must(os.WriteFile(s.path("perf-9.map"), fmt.Appendf(nil, "%x 40 f\n", base), 0o644))
	}, []string{"inject -i perf.data --map perf-9.map"}},
	{"process", "a large map of many processes", func(s *scene, size int) {
		s.Machine = "x86_64"
		s.grow(size/2, func(i int) {
			s.Fork(child(i), child(i-1), s.tick())
			s.memory(child(i))
		})
		var m []byte
		for i := range size / 30 {
			m = fmt.Appendf(m, "%x 40 f\n", place(i)-1<<40)
		}
		s.must(os.WriteFile(s.path("perf-9.map"), m, 0o644))
	}, []string{"inject -i perf.data --map perf-9.map"}},
	{"process", "shared memory of many processes", func(s *scene, size int) {
		s.process()
		s.functions(10)
		s.grow(size, func(i int) {
			s.SharedMmap2(child(i), s.tick(), base, 1<<20, 0, 7)
			s.sampleOf(child(i))
		})
	}, nil},
	{"process", "shared memory, mapped by turns", func(s *scene, size int) {
		s.Marker(pid, s.tick(), s.path(dumpName))
		s.functions(10)
		s.grow(size, func(i int) {
			s.SharedMmap2(pid, s.tick(), base, 1<<20, 0, uint64(7+i%2))
			s.Sample(pid, s.tick(), base+8)
		})
	}, nil},
	{"process", "shared functions of many processes", func(s *scene, size int) {
		s.Marker(pid, s.tick(), s.path(dumpName))
		s.SharedMmap2(pid, s.tick(), base, 1<<20, 0, 7)
		for i := range size / 300 {
			s.function(i)
		}
		s.grow(size/2, func(i int) {
			s.SharedMmap2(child(i), s.tick(), base, 1<<20, 0, 7)
			s.Sample(child(i), s.tick(), place(i))
		})
	}, nil},
	{"process", "namespaces by turns", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.Namespaces(child(i%10), s.tick(), 1, 2, 3, 4, 5, uint64(i), 7)
			s.Marker(child(i%10), s.tick(), s.path(dumpName))
		})
	}, nil},
	{"process", "processes of one number", func(s *scene, size int) {
		s.started()
		s.grow(size, func(i int) {
			s.Fork(pid+1, pid, s.tick())
			s.Marker(pid+1, s.tick(), s.ownDump(uint32(i)))
			s.memory(pid + 1)
			s.Exit(pid+1, pid+1, s.tick())
		})
	}, nil},
	{"process", "words of the command line", func(s *scene, size int) {
		s.started()
		for range size / 16 {
			s.Cmdline = append(s.Cmdline, "--a=b")
		}
	}, nil},
	{"process", "functions over each other, with stacks", func(s *scene, size int) {
		s.SampleType |= 1 << 13
		s.process()
		for i := range size / 200 {
			s.load(i, place(i)/2, room)
		}
		s.samples(100)
	}, []string{"inject -i perf.data", "inject -i perf.data --bundle", "inject -i perf.data --sampled"}},
	{"process", "moves into each other, with stacks", func(s *scene, size int) {
		s.SampleType |= 1 << 13
		s.process()
		for i := range size / 300 {
			s.function(i)
			s.move(i, place(i), place(i/2)+1<<28)
		}
		s.samples(100)
	}, []string{"inject -i perf.data", "inject -i perf.data --bundle"}},
	{"process", "dumps over each other, with stacks", func(s *scene, size int) {
		s.SampleType |= 1 << 13
		s.memory(pid)
		for i := range size / 500 {
			s.Marker(pid, s.tick(), s.ownDump(child(i)))
			s.writeDump(child(i))
			s.sampleOf(pid)
		}
	}, []string{"inject -i perf.data", "inject -i perf.data --bundle"}},
	{"process", "children with dumps over each other, with stacks", func(s *scene, size int) {
		s.SampleType |= 1 << 13
		s.memory(pid)
		for i := range size / 600 {
			s.Marker(pid, s.tick(), s.ownDump(child(i)))
			s.writeDump(child(i))
			s.Fork(child(i), pid, s.tick())
			s.sampleOf(child(i))
		}
	}, []string{"inject -i perf.data", "inject -i perf.data --bundle"}},
}
