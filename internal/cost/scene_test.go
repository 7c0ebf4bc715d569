package cost

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// The process of most inputs, and where its functions lie.
const (
	pid    = 4711
	base   = uint64(0x7f1200000000)
	room   = 64 // bytes from function to function
	second = uint64(1e9)
)

// dumpName is the name of the process's dump.
const dumpName = "jit-4711.dump"

// A scene is a directory that an input is made in: a recording, and the dump of one process.
// Times are nanoseconds; each new record comes a microsecond after the last one.
type scene struct {
	*testrec.Recording
	t    testing.TB
	dir  string
	now  uint64
	dump bytes.Buffer
	w    *jitdump.Writer

	files    []string // named on the command line, beside the recording
	unpacked int64    // bytes that files unpack to, beyond their size
	calls    bool     // a file has calls, or methods without code

	variables []string // of the environment

	changed func(file []byte) []byte // changes the recording, or nil
}

func newScene(t testing.TB) *scene {
	t.Helper()
	s := &scene{Recording: testrec.NewRecording(), t: t, dir: t.TempDir(), now: second}
	s.w = s.newDump(&s.dump, pid)
	return s
}

// newDump writes the header of a dump.
func (s *scene) newDump(to *bytes.Buffer, pid uint32) *jitdump.Writer {
	s.t.Helper()
	w, err := jitdump.NewWriter(to, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(elf.EM_X86_64), PID: pid})
	s.must(err)
	return w
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// tick returns the time of the next record.
func (s *scene) tick() uint64 {
	s.now += 1000
	return s.now
}

func (s *scene) path(name string) string { return filepath.Join(s.dir, name) }

// manyPaths returns the i-th of a million paths of the directory.
func (s *scene) manyPaths(i int) string {
	path := s.dir
	for bit := range 20 {
		path += []string{"/.", "//"}[i>>bit&1]
	}
	return path
}

// process adds the process that has the dump.
func (s *scene) process() {
	s.Comm(pid, s.tick(), "prog", true)
	s.Marker(pid, s.tick(), s.path(dumpName))
	s.Mmap2(pid, s.tick(), base-1<<20, 1<<32, 0, "//anon")
}

// started adds the process and ten functions.
func (s *scene) started() {
	s.process()
	s.functions(10)
}

// record adds a record to the dump.
func (s *scene) record(rec jitdump.Record) {
	s.t.Helper()
	s.must(s.w.Write(s.tick(), rec))
}

// load adds a function to the dump.
func (s *scene) load(i int, addr uint64, size int) {
	s.t.Helper()
	s.record(&jitdump.Load{PID: pid, TID: pid, VMA: addr, CodeAddr: addr, CodeIndex: uint64(i), Name: fmt.Appendf(nil, "function%d", i), Code: code(i, size)})
}

// move adds the move of a function to the dump.
func (s *scene) move(i int, from, to uint64) {
	s.t.Helper()
	s.record(&jitdump.Move{PID: pid, TID: pid, VMA: to, OldCodeAddr: from, NewCodeAddr: to, CodeSize: room, CodeIndex: uint64(i)})
}

// function adds the i-th function, beside the one before.
func (s *scene) function(i int) {
	s.t.Helper()
	s.load(i, place(i), room)
}

// functions adds n functions side by side.
func (s *scene) functions(n int) {
	s.t.Helper()
	for i := range n {
		s.function(i)
	}
}

// place returns the address of the i-th function.
func place(i int) uint64 { return base + room*uint64(i) }

// code returns instructions that no other function has.
func code(i, size int) []byte {
	b := []byte{0x49, 0xba} // movabs $i, %r10
	b = binary.LittleEndian.AppendUint64(b, uint64(i))
	for len(b) < size-1 {
		b = append(b, 0x90)
	}
	return append(b[:size-1], 0xc3)
}

// samples adds a sample in each of n places of functions.
func (s *scene) samples(n int) {
	for i := range n {
		s.Sample(pid, s.tick(), place(i)+8)
	}
}

// damage adds bytes to the dump that are no record.
func (s *scene) damage(b ...byte) { s.dump.Write(b) }

// write writes what was added: perf.data, and the dump if the process has one.
func (s *scene) write() {
	s.t.Helper()
	file := s.Bytes()
	if s.changed != nil {
		file = s.changed(file)
	}
	s.must(os.WriteFile(s.path("perf.data"), file, 0o600))
	s.must(os.WriteFile(s.path(dumpName), s.dump.Bytes(), 0o644))
}

// pipe returns the recording in the format of pipes.
func (s *scene) pipe() []byte {
	file := s.Bytes()
	le := binary.LittleEndian
	attr := file[le.Uint64(file[24:]):][:le.Uint64(file[16:])-16]
	ids := file[104:112]
	out := le.AppendUint64([]byte("PERFILE2"), 16)
	out = le.AppendUint32(out, 64) // HEADER_ATTR
	out = le.AppendUint16(out, 0)
	out = le.AppendUint16(out, uint16(8+len(attr)+len(ids)))
	out = append(append(out, attr...), ids...)
	return append(out, s.Data()...)
}

// words returns fields of 32 and 64 bits.
func words(fields ...any) (b []byte) {
	le := binary.LittleEndian
	for _, f := range fields {
		switch f := f.(type) {
		case int:
			b = le.AppendUint32(b, uint32(f))
		case uint32:
			b = le.AppendUint32(b, f)
		case uint64:
			b = le.AppendUint64(b, f)
		}
	}
	return b
}
