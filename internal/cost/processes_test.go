package cost

import (
	"bytes"
	"fmt"
	"os"

	"github.com/jitinject/jitinject/jitdump"
)

// child returns the pid of another process.
func child(i int) uint32 { return uint32(pid + 1 + i) }

// forkChain adds n processes, each the child of the one before.
func (s *scene) forkChain(n int, each func(pid uint32)) {
	for i := range n {
		s.Fork(child(i), child(i-1), s.tick())
		each(child(i))
	}
}

// others adds n processes that are no relatives.
func (s *scene) others(n int, each func(pid uint32)) {
	for i := range n {
		s.Comm(child(i), s.tick(), fmt.Sprint("p", i), true)
		each(child(i))
	}
}

// sampleOf adds a sample of a process, in the memory of the functions.
func (s *scene) sampleOf(pid uint32) { s.Sample(pid, s.tick(), base+1+uint64(pid%640)) }

// ownDump returns the path of a dump of a process, which is not written.
func (s *scene) ownDump(pid uint32) string { return s.path(fmt.Sprintf("jit-%d.dump", pid)) }

// writeDump writes a dump of a process, with two functions.
func (s *scene) writeDump(pid uint32) {
	s.t.Helper()
	var dump bytes.Buffer
	w := s.newDump(&dump, pid)
	for i := range 2 {
		s.must(w.Write(s.tick(), &jitdump.Load{PID: pid, TID: pid, VMA: place(i), CodeAddr: place(i), CodeIndex: uint64(i), Name: fmt.Append(nil, "f", i), Code: code(i, room)}))
	}
	s.must(os.WriteFile(s.ownDump(pid), dump.Bytes(), 0o644))
}

// Processes, their forks and execs, and their dumps.
var processSeries = []series{
	{"fork chain", 1000, func(s *scene, n int) {
		s.started()
		s.forkChain(n, func(uint32) {})
		s.samples(10)
	}},
	{"fork chain, sampled", 1000, func(s *scene, n int) {
		s.started()
		s.forkChain(n, s.sampleOf)
	}},
	{"fork chain without a dump", 1000, func(s *scene, n int) {
		s.Comm(pid, s.tick(), "x", true)
		s.forkChain(n, func(pid uint32) {
			s.Mmap2(pid, s.tick(), base, 1<<20, 0, "//anon")
			for range 10 {
				s.sampleOf(pid)
			}
		})
	}},
	{"fork chain of dumps", 1000, func(s *scene, n int) {
		s.started()
		s.forkChain(n, func(pid uint32) { s.Marker(pid, s.tick(), s.path(dumpName)) })
		s.samples(10)
	}},
	{"forks of one process", 1000, func(s *scene, n int) {
		s.started()
		for i := range n {
			s.Fork(child(i), pid, s.tick())
			s.sampleOf(child(i))
		}
	}},
	{"forks between functions", 500, func(s *scene, n int) {
		s.process()
		for i := range n {
			s.function(i)
			s.Fork(child(i), pid, s.tick())
			s.Sample(child(i), s.tick(), place(i))
		}
	}},
	{"forks backwards in time", 4000, func(s *scene, n int) {
		s.started()
		for i := range n {
			s.Fork(child(i), pid, 20*second-uint64(i))
		}
		s.samples(10)
	}},
	{"forks of two processes from each other", 4000, func(s *scene, n int) {
		s.started()
		for range n {
			s.Fork(pid+1, pid, s.tick())
			s.Fork(pid, pid+1, s.tick())
		}
		s.samples(10)
	}},
	{"forks in a circle", 4000, func(s *scene, n int) {
		s.started()
		time := s.tick()
		for i := range n {
			s.Fork(child(i), child(i-1), time)
		}
		s.Fork(pid, child(n-1), time)
		s.samples(10)
	}},
	{"execs", 2000, func(s *scene, n int) {
		s.started()
		for i := range n {
			s.Comm(pid+1, 20*second-uint64(i), "x", true)
		}
		s.samples(10)
	}},
	{"execs and dumps", 1000, func(s *scene, n int) {
		s.started()
		for range n {
			s.process()
		}
		s.samples(10)
	}},
	{"threads", 1000, func(s *scene, n int) {
		s.started()
		for i := range n {
			s.Kernel(7, 0, words(pid, pid, child(i), pid, s.tick()), pid, s.now)
			s.Kernel(3, 0, append(words(pid, child(i)), "thread\x00\x00"...), pid, s.tick())
			s.Sample(pid, s.tick(), base+8)
		}
		for i := range n {
			s.Exit(pid, child(i), s.tick())
		}
	}},
	{"processes", 1000, func(s *scene, n int) {
		s.started()
		s.others(n, func(pid uint32) {
			s.Mmap2(pid, s.tick(), base, 1<<20, 0, "//anon")
			s.sampleOf(pid)
		})
	}},
	{"exits", 4000, func(s *scene, n int) {
		s.started()
		for i := range n {
			s.Exit(child(i), child(i), s.tick())
		}
		s.samples(10)
	}},
	{"dumps", 100, func(s *scene, n int) {
		s.others(n, func(pid uint32) {
			s.Marker(pid, s.tick(), s.ownDump(pid))
			s.Mmap2(pid, s.tick(), base, 1<<20, 0, "//anon")
			s.writeDump(pid)
			s.sampleOf(pid)
		})
	}},
	{"missing dumps", 1000, func(s *scene, n int) {
		s.started()
		s.others(n, func(pid uint32) {
			s.Marker(pid, s.tick(), s.ownDump(pid))
			s.sampleOf(pid)
		})
	}},
	{"missing dumps of one name", 1000, func(s *scene, n int) {
		s.started()
		s.others(n, func(pid uint32) {
			s.Marker(pid, s.tick(), s.ownDump(1))
			s.sampleOf(pid)
		})
	}},
	{"only missing dumps", 1000, func(s *scene, n int) {
		s.others(n, func(pid uint32) {
			s.Marker(pid, s.tick(), s.ownDump(pid))
			s.sampleOf(pid)
		})
	}},
	{"one dump of all", 1000, func(s *scene, n int) {
		s.started()
		s.others(n, func(pid uint32) {
			s.Marker(pid, s.tick(), s.path(dumpName))
			s.sampleOf(pid)
		})
	}},
	{"markers", 2000, func(s *scene, n int) {
		s.started()
		for range n {
			s.Marker(pid, s.tick(), s.path(dumpName))
		}
		s.samples(10)
	}},
}

// Records of one process, samples above all.
var recordSeries = []series{
	{"mappings", 2000, func(s *scene, n int) {
		s.started()
		for i := range n {
			s.Mmap2(pid, s.tick(), base+1<<32+uint64(i)<<13, 1<<12, 0, fmt.Sprintf("/lib/l%d.so", i))
		}
		s.samples(10)
	}},
	{"mappings downwards", 2000, func(s *scene, n int) {
		s.started()
		for i := range n {
			s.Mmap2(pid, s.tick(), base+1<<45-uint64(i)<<13, 1<<12, 0, fmt.Sprintf("/lib/l%d.so", i))
		}
		s.samples(10)
	}},
	{"mappings over functions", 500, func(s *scene, n int) {
		s.process()
		s.functions(n)
		for i := range n {
			s.Mmap2(pid, s.tick(), place(i), 1<<12, 0, "//anon")
		}
		s.samples(n)
	}},
	{"samples", 4000, func(s *scene, n int) {
		s.started()
		for i := range n {
			s.Sample(pid, s.tick(), base+uint64(i%640))
		}
	}},
	{"samples in no function", 4000, func(s *scene, n int) {
		s.started()
		for i := range n {
			s.Sample(pid, s.tick(), base+4096+uint64(i)*16)
		}
	}},
	{"samples backwards in time", 4000, func(s *scene, n int) {
		s.started()
		for i := range n {
			s.Sample(pid, 20*second-uint64(i), base+4096+uint64(i)*16)
		}
	}},
	{"namespaces", 2000, func(s *scene, n int) {
		s.started()
		for i := range n {
			s.Namespaces(child(i), s.tick(), 1, 2, 3, 4, 5, 6, 7)
		}
		s.samples(10)
	}},
	{"payloads", 2000, func(s *scene, n int) {
		s.started()
		for range n {
			s.Raw(71, 0, words(uint64(8), uint64(0), uint64(0), 0, 0, 0, 0))
			s.Payload(make([]byte, 8))
		}
		s.samples(10)
	}},
}
