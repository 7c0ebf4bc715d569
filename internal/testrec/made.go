package testrec

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Types of jitdump records.
const (
	dumpLoad      = 0
	dumpDebugInfo = 2
)

// A Made is a recording of a program that never ran, with as many functions as one
// likes: for measuring how costs grow. Their code is that of real functions.
type Made struct {
	Functions int
	CodeSize  int  // bytes of each function; 0 for those that real ones have
	Tiny      bool // functions of three instructions, without lines
}

// The program was one process. Its compiler finished a function every 50 µs, and the
// program ran as long as that took. perf record -g sampled it at its usual 4000 Hz.
const (
	madePID      = 4242
	madeStart    = uint64(1000e9)
	madeCompiled = uint64(50e3) // from function to function
	madeSampled  = uint64(250e3)
	madeRegion   = uint64(0x7f1000000000) // where its code begins
	madeChunk    = uint64(64 << 20)       // that it asked the kernel for at once
	madeHot      = 20                     // one in so many functions is ever sampled
)

// Write writes perf.data and the jitdump into a directory. The dump goes to the
// disk as it is made, however large it is.
func (m Made) Write(dir string) error {
	bodies, err := realBodies()
	if err != nil {
		return err
	}
	path, err := filepath.Abs(filepath.Join(dir, fmt.Sprintf("jit-%d.dump", madePID)))
	if err != nil {
		return err
	}
	addrs, err := m.writeDump(path, bodies)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "perf.data"), m.recording(path, addrs).Bytes(), 0o600)
}

// compiled returns when a function was ready.
func (m Made) compiled(i int) uint64 { return madeStart + uint64(i+1)*madeCompiled }

// writeDump writes the dump and returns the functions' addresses.
func (m Made) writeDump(path string, bodies []body) (addrs []uint64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	le := binary.LittleEndian
	header := le.AppendUint32(nil, 0x4A695444)
	for _, v := range []uint32{1, 40, 62, 0, madePID} {
		header = le.AppendUint32(header, v)
	}
	header = le.AppendUint64(header, madeStart)
	header = le.AppendUint64(header, 0)
	w.Write(header)
	addr := madeRegion
	rnd := rand.New(rand.NewPCG(1, 2))
	var made body
	var rec []byte
	for i := range m.Functions {
		made = m.function(made, bodies, rnd, i)
		rec = rec[:0]
		if !m.Tiny {
			rec = m.appendDebugInfo(rec, i, addr, made.lines)
		}
		rec = m.appendLoad(rec, i, addr, made.code)
		if _, err := w.Write(rec); err != nil {
			return nil, err
		}
		addrs = append(addrs, addr)
		// Compilers align functions, and keep data of their own in front of some.
		addr = (addr + uint64(len(made.code)) + 15) &^ 15
		if i%4 == 0 {
			addr += 32
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return addrs, f.Close()
}

// function returns the code of function number i and its lines, in b's memory. No
// two are the same: code that a compiler makes is full of addresses, here of a
// counter. (perf takes functions of the same code for one.)
func (m Made) function(b body, bodies []body, rnd *rand.Rand, i int) body {
	b.code = append(b.code[:0], 0x49, 0xba) // movabs $address, %r10
	b.code = binary.LittleEndian.AppendUint64(b.code, madeRegion-uint64(8*(i+1)))
	b.lines = append(b.lines[:0], 0)
	if m.Tiny {
		b.code = append(b.code, 0x41, 0xff, 0x02, 0xc3) // incl (%r10); ret
		return b
	}
	for {
		next := bodies[rnd.IntN(len(bodies))]
		at := uint64(len(b.code))
		for _, off := range next.lines {
			b.lines = append(b.lines, at+off)
		}
		b.code = append(b.code, next.code...)
		if len(b.code) >= m.CodeSize {
			return b
		}
	}
}

func (m Made) appendLoad(b []byte, i int, addr uint64, code []byte) []byte {
	le := binary.LittleEndian
	name := fmt.Sprintf("*app.module%d.Service%d.method%d(Request, long)", i/400, i/20, i)
	b = le.AppendUint32(b, dumpLoad)
	b = le.AppendUint32(b, uint32(56+len(name)+1+len(code)))
	b = le.AppendUint64(b, m.compiled(i))
	b = le.AppendUint32(b, madePID)
	b = le.AppendUint32(b, madePID)
	for _, v := range []uint64{addr, addr, uint64(len(code)), uint64(i + 1)} {
		b = le.AppendUint64(b, v)
	}
	b = append(append(b, name...), 0)
	return append(b, code...)
}

// appendDebugInfo appends the record of a function's lines: most of its own file,
// some of a function that was inlined.
func (m Made) appendDebugInfo(b []byte, i int, addr uint64, lines []uint64) []byte {
	le := binary.LittleEndian
	start := len(b)
	b = le.AppendUint32(b, dumpDebugInfo)
	b = le.AppendUint32(b, 0) // its size, when it is known
	b = le.AppendUint64(b, m.compiled(i))
	b = le.AppendUint64(b, addr)
	b = le.AppendUint64(b, uint64(len(lines)))
	for j, off := range lines {
		b = le.AppendUint64(b, addr+off)
		if j%4 == 3 {
			b = le.AppendUint32(b, uint32(100+j%7))
			b = le.AppendUint32(b, 0)
			b = append(b, "/srv/app/lib/collections.src\x00"...)
			continue
		}
		b = le.AppendUint32(b, uint32(10+i%400*25+j))
		b = le.AppendUint32(b, 0)
		b = fmt.Appendf(b, "/srv/app/module%d/Service%d.src\x00", i/400, i/20)
	}
	le.PutUint32(b[start+4:], uint32(len(b)-start))
	return b
}
