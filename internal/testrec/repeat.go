package testrec

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"math/bits"
	"os"
	"path/filepath"
)

// Repeat makes the perf.data in a directory size bytes long or a little longer.
// After its records come its samples, again and again, each time later, in a
// round of their own. It understands recordings made with -g of one event without
// more, as perf record on x86-64 writes them: in samples, the time is at 24.
func Repeat(dir string, size int64) error {
	path := filepath.Join(dir, "perf.data")
	in, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	dataAt, dataSize := le.Uint64(in[40:]), le.Uint64(in[48:])
	data, tail := in[dataAt:dataAt+dataSize], bytes.Clone(in[dataAt+dataSize:])
	const sample, timeAt = 9, 24
	var samples []byte
	first, last := ^uint64(0), uint64(0)
	for rest := data; len(rest) > 0; rest = rest[le.Uint16(rest[6:]):] {
		if le.Uint32(rest) == sample {
			samples = append(samples, rest[:le.Uint16(rest[6:])]...)
			time := le.Uint64(rest[timeAt:])
			first, last = min(first, time), max(last, time)
		}
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	w.Write(in[:dataAt])
	w.Write(data)
	written := int64(dataSize)
	for written < size {
		for rest := samples; len(rest) > 0; rest = rest[le.Uint16(rest[6:]):] {
			le.PutUint64(rest[timeAt:], le.Uint64(rest[timeAt:])+last-first+1000)
		}
		w.Write(samples)
		w.Write([]byte{68, 0, 0, 0, 0, 0, 8, 0}) // FINISHED_ROUND
		written += int64(len(samples)) + 8
	}
	features := 0
	for at := 72; at < 104; at += 8 {
		features += bits.OnesCount64(le.Uint64(in[at:]))
	}
	for i := range features {
		le.PutUint64(tail[16*i:], le.Uint64(tail[16*i:])+uint64(written)-dataSize)
	}
	w.Write(tail)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = out.WriteAt(le.AppendUint64(nil, uint64(written)), 48)
	return err
}
