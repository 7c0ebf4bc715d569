package profile

import (
	"testing"

	"github.com/jitinject/jitinject/perfdata"
)

// Each of thousands of mappings of an object is found, the latest one of a place counts, and children have those of their
// parent.
func TestSpaces_ManyMappings(t *testing.T) {
	const mappings = 2000
	var s spaces
	for i := range uint64(mappings) { // in another order than that of the times, as buffers of processors come
		k := i ^ 1
		s.add(&perfdata.Mmap{PID: 1, Addr: 0x1000 * k, Len: 0x1000, PgOff: 0x10000 + 0x1000*k, Filename: []byte("a.so")}, 10+k)
	}
	s.add(&perfdata.Mmap{PID: 1, Addr: 0, Len: 0x1000, PgOff: 0x1000, Filename: []byte("a.so")}, 10_000)
	s.fork(2, 1)
	s.add(&perfdata.Mmap{PID: 2, Addr: 1 << 40, Len: 0x1000, Filename: []byte("b.so")}, 1)
	for i := range uint64(mappings) {
		for pid := uint32(1); pid <= 2; pid++ {
			if got, ok := s.offset(pid, 9999, "a.so", 0x1000*i+8); !ok || got != 0x10000+0x1000*i+8 {
				t.Fatalf("process %d, mapping %d: got offset %#x, %v", pid, i, got, ok)
			}
			if got, ok := s.addr(pid, 9999, "a.so", 0x10000+0x1000*i); !ok || got != 0x1000*i {
				t.Fatalf("process %d, mapping %d: got address %#x, %v", pid, i, got, ok)
			}
		}
	}
	if got, ok := s.offset(1, 10_000, "a.so", 8); !ok || got != 0x1008 {
		t.Errorf("after the last mapping: got offset %#x, %v; want 0x1008", got, ok)
	}
	if got, ok := s.offset(1, 10, "a.so", 0x1008); ok {
		t.Errorf("before the mapping: got offset %#x; want none", got)
	}
}
