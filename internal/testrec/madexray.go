package testrec

import (
	"bufio"
	"encoding/binary"
	"os"
	"path/filepath"
)

// MakeXRay unpacks the recording xray-emulated, and puts a made-up trace of the same process
// in the place of its own: both threads have half of the records, 20 ns apart, in buffers
// of 64 KiB. Version 5, as compiler-rt writes it since LLVM 8.
func MakeXRay(dir string, records int64) error {
	if err := UnpackTo("xray-emulated", dir); err != nil {
		return err
	}
	if err := Relocate(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, "xray-log.calls")
	real, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	w.Write(real[:xrayHeader])
	le := binary.LittleEndian
	first := real[xrayHeader:]
	second := first[16+le.Uint64(first[1:]):] // behind the extents of the first buffer
	for _, own := range [][]byte{first, second} {
		writeXRayThread(w, own[:5*16], records/2)
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

const (
	xrayHeader = 32
	xrayBuffer = 64 << 10
	xrayTick   = 20 // ns, and counts: the clock is an emulated one
)

// writeXRayThread writes buffers that begin as own does: with extents, thread, wall time,
// process and count, 16 bytes each. Other records have 8 bytes: what happens and the number
// of the function, and how many counts later.
func writeXRayThread(w *bufio.Writer, own []byte, records int64) {
	const leaf, branch, round, rounds = 1, 2, 11, 12
	const enter, exit = 0, 1
	type record struct{ action, function uint32 }
	cycle := []record{{enter, round}, {enter, branch}, {enter, leaf}, {exit, leaf}, {enter, leaf}, {exit, leaf}, {exit, branch}, {exit, round}}
	records = (records-2)/int64(len(cycle))*int64(len(cycle)) + 2 // so that all that begins ends
	le := binary.LittleEndian
	seconds, micros := le.Uint64(own[2*16+1:]), uint64(le.Uint32(own[2*16+9:]))
	count := le.Uint64(own[4*16+3:])
	head := append([]byte(nil), own...)
	var b [8]byte
	for done := int64(0); done < records; {
		n := min(records-done, (xrayBuffer-4*16)/8)
		le.PutUint64(head[1:], uint64(4*16+8*n))
		passed := uint64(done) * xrayTick
		wall := (seconds*1_000_000+micros)*1000 + passed
		le.PutUint64(head[2*16+1:], wall/1e9)
		le.PutUint32(head[2*16+9:], uint32(wall%1e9/1000))
		le.PutUint64(head[4*16+3:], count+passed)
		w.Write(head)
		for i := range n {
			r := cycle[(done+i-1+int64(len(cycle)))%int64(len(cycle))]
			switch done + i {
			case 0:
				r = record{enter, rounds}
			case records - 1:
				r = record{exit, rounds}
			}
			delta := uint32(xrayTick)
			if i == 0 {
				delta = 0
			}
			le.PutUint32(b[:], r.function<<4|r.action<<1)
			le.PutUint32(b[4:], delta)
			w.Write(b[:])
		}
		done += n
	}
}
