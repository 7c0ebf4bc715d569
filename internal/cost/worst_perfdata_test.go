package cost

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/wire"
)

var recordingRuns = []string{"inject -i perf.data", "inject --bundle -i perf.data", "inject -i -", "verify perf.data", "clean --dry-run perf.data"}

// featureRuns read the features of a header: a recording that comes through a pipe has none.
var featureRuns = []string{"inject -i perf.data", "inject --bundle -i perf.data", "verify perf.data"}

// raw adds records of a type until they have size bytes.
func raw(typ uint32, body ...byte) func(s *scene, size int) {
	return func(s *scene, size int) {
		s.started()
		for range size / (8 + len(body)) {
			s.Raw(typ, 2, body)
		}
		s.samples(10)
	}
}

// withFeature adds a feature to a recording: its content follows the data.
func withFeature(file []byte, bit int, content []byte) []byte {
	le := binary.LittleEndian
	end := le.Uint64(file[40:]) + le.Uint64(file[48:]) // of the data
	var out, bodies []byte
	var tables [][]byte
	old := file[end:]
	for b := range 64 {
		has := le.Uint64(file[72:])>>b&1 == 1
		var body []byte
		if has {
			body = file[le.Uint64(old):][:le.Uint64(old[8:])]
			old = old[16:]
		}
		if b == bit {
			body, has = content, true
		}
		if has {
			tables = append(tables, body)
		}
	}
	out = bytes.Clone(file[:end])
	le.PutUint64(out[72:], le.Uint64(out[72:])|1<<bit)
	at := end + uint64(16*len(tables))
	for _, body := range tables {
		out = le.AppendUint64(le.AppendUint64(out, at), uint64(len(body)))
		at += uint64(len(body))
		bodies = append(bodies, body...)
	}
	return append(out, bodies...)
}

// feature returns a maker of a recording with a feature of the header.
func feature(bit int, content func(size int) []byte) func(s *scene, size int) {
	return func(s *scene, size int) {
		s.started()
		s.samples(10)
		s.changed = func(file []byte) []byte { return withFeature(file, bit, content(size)) }
	}
}

// Recordings.
var worstRecordings = []worst{
	{"perf.data", "records without a body", raw(300), recordingRuns},
	{"perf.data", "rounds", raw(68), recordingRuns},
	{"perf.data", "samples", func(s *scene, size int) {
		s.started()
		s.samples(size / 40)
	}, recordingRuns},
	{"perf.data", "call chains", func(s *scene, size int) {
		s.SampleType |= 1 << 5
		s.started()
		chain := make([]uint64, 1000)
		for i := range chain {
			chain[i] = place(i%10) + 8
		}
		for range size / 8100 {
			s.Chain(pid, s.tick(), chain...)
		}
	}, recordingRuns},
	{"perf.data", "mappings with long names", func(s *scene, size int) {
		s.started()
		for i := range size / 4200 {
			s.Mmap2(pid, s.tick(), 1<<40+uint64(i)<<12, 1<<12, 0, fmt.Sprint("/", i, strings.Repeat("n", 4080)))
		}
		s.samples(10)
	}, recordingRuns},
	{"perf.data", "mappings and forks", func(s *scene, size int) {
		s.started()
		for i := range size / 400 {
			s.Mmap2(pid, s.tick(), 1<<40+uint64(i)<<12, 1<<12, 0, "/f")
			s.Fork(child(i), pid, s.tick())
			s.Mmap2(child(i), s.tick(), base, 1<<12, 0, "//anon")
			s.Sample(child(i), s.tick(), base+8)
		}
	}, recordingRuns},
	{"perf.data", "names of threads", func(s *scene, size int) {
		s.started()
		for i := range size / 64 {
			s.Comm(pid, s.tick(), fmt.Sprint("thread", i), false)
		}
		s.samples(10)
	}, recordingRuns},
	{"perf.data", "processes", func(s *scene, size int) {
		s.started()
		for i := range size / 64 {
			s.Comm(child(i), s.tick(), "x", true)
		}
		s.samples(10)
	}, recordingRuns},
	{"perf.data", "BPF events", func(s *scene, size int) {
		s.started()
		for i := range size / 60 {
			s.Kernel(18, 0, words(1, uint32(i), uint64(0), uint64(0)), pid, s.tick())
		}
		s.samples(10)
	}, recordingRuns},
	{"perf.data", "kernel symbols", func(s *scene, size int) {
		s.started()
		for i := range size / 60 {
			s.Kernel(17, 0, append(words(uint64(i), 64, 1), "sym\x00\x00\x00\x00\x00"...), pid, s.tick())
		}
		s.samples(10)
	}, recordingRuns},
	{"perf.data", "auxiliary traces", func(s *scene, size int) {
		s.started()
		for range size / 148 {
			s.Raw(71, 0, words(uint64(100), uint64(0), uint64(0), 0, 0, 0, 0))
			s.Payload(make([]byte, 100))
		}
		s.samples(10)
	}, recordingRuns},
	{"perf.data", "build ids", func(s *scene, size int) {
		s.started()
		for i := range size / 2 / 100 { // each asks for an id
			s.Mmap2(pid, s.tick(), base+1<<30+uint64(i)<<12, 1<<12, 0, fmt.Sprint("/f", i))
		}
		s.samples(10)
		s.changed = func(file []byte) []byte {
			b := wire.NewBuffer(binary.LittleEndian)
			for range size / 2 / 48 {
				b.U32(67)
				b.U16(2)
				b.U16(48)
				b.U32(pid)
				b.Zeros(24)
				b.Bytes([]byte("/other/file\x00"))
			}
			return withFeature(file, 2, b.Data)
		}
	}, recordingRuns},
	{"perf.data", "words of the command line", feature(11, func(size int) []byte {
		n := size / 8
		return append(words(n), bytes.Repeat([]byte{4, 0, 0, 0, 'a', 0, 0, 0}, n)...)
	}), featureRuns},
	{"perf.data", "a count of words that are not there", feature(11, func(size int) []byte { return append(words(1<<30), make([]byte, size)...) }), featureRuns},
	{"perf.data", "descriptions of events", feature(12, func(size int) []byte {
		n := size / 160
		one := slices.Concat(make([]byte, 128), words(1, 8), []byte("event\x00\x00\x00"), words(uint64(1)))
		return append(words(n, 128), bytes.Repeat(one, n)...)
	}), featureRuns},
	{"perf.data", "descriptions of groups", feature(21, func(size int) []byte {
		n := size / 16
		return append(words(n), bytes.Repeat(words(4, uint32('a'), 1, 1), n)...)
	}), featureRuns},
	{"perf.data", "names of processors", feature(13, func(size int) []byte {
		n := size / 16
		names := append(words(n), bytes.Repeat(words(4, uint32('0')), n)...)
		return append(names, names...)
	}), featureRuns},
	{"perf.data", "build ids of one file", feature(2, func(size int) []byte {
		return bytes.Repeat(append(words(2<<16|67, 48<<16, pid), make([]byte, 36)...), size/48)
	}), featureRuns},
	{"perf.data", "attributes", func(s *scene, size int) {
		s.started()
		s.samples(10)
		s.changed = func(file []byte) []byte {
			le := binary.LittleEndian
			at, one := le.Uint64(file[24:]), le.Uint64(file[16:])
			attr := bytes.Clone(file[at:][:one])
			out := append(bytes.Clone(file), bytes.Repeat(attr, size/int(one))...)
			le.PutUint64(out[24:], uint64(len(file)))
			le.PutUint64(out[32:], uint64(size)/one*one)
			return out
		}
	}, recordingRuns},
	{"perf.data", "attributes that share ids", func(s *scene, size int) {
		s.started()
		s.samples(10)
		s.changed = func(file []byte) []byte {
			le := binary.LittleEndian
			at, one := le.Uint64(file[24:]), le.Uint64(file[16:])
			attr := bytes.Clone(file[at:][:one])
			le.PutUint64(attr[one-16:], uint64(len(file)))
			le.PutUint64(attr[one-8:], uint64(size/2))
			out := append(bytes.Clone(file), bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, size/16)...)
			le.PutUint64(out[24:], uint64(len(out)))
			out = append(out, bytes.Repeat(attr, size/2/int(one))...)
			le.PutUint64(out[32:], uint64(size/2)/one*one)
			return out
		}
	}, recordingRuns},
	{"perf.data", "compressed records", compressed(81, 1000), recordingRuns},
	{"perf.data", "compressed records of a byte", compressed(81, 1), recordingRuns},
	{"perf.data", "compressed files of a directory", func(s *scene, size int) {
		s.started()
		s.must(os.Mkdir(s.path("threads.data"), 0o700))
		s.must(os.WriteFile(s.path("threads.data/data"), s.Bytes(), 0o600))
		n := min(size/100, 3000)
		for i := range n {
			piece := testrec.NewRecording()
			// A frame of zstd with a window of 8 MiB, and blocks that are not compressed.
			frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x68}
			for range size/n/60 + 1 {
				sample := testrec.NewRecording()
				sample.Sample(pid, s.tick(), place(0)+8)
				frame = append(append(frame, byte(len(sample.Data())<<3), byte(len(sample.Data())>>5), 0), sample.Data()...)
			}
			piece.Raw(81, 0, frame)
			s.must(os.WriteFile(s.path(fmt.Sprint("threads.data/data.", i)), piece.Data(), 0o600))
		}
	}, []string{"inject -i threads.data", "verify threads.data"}},
	{"perf.data", "features in a pipe", func(s *scene, size int) {
		s.started()
		for i := range size / 32 {
			s.Raw(80, 0, words(uint64(i%32), uint64(0), uint64(0)))
		}
		s.samples(10)
	}, []string{"inject -i -"}},
}

// compressed returns a maker of a recording with samples in compressed records of one type. Each has part bytes
// of the compressed stream.
func compressed(typ uint32, part int) func(s *scene, size int) {
	return func(s *scene, size int) {
		s.started()
		samples := testrec.NewRecording()
		for i := range size / 40 {
			samples.Sample(pid, s.tick(), place(i%10)+8)
		}
		z, err := zstd.NewWriter(nil)
		s.must(err)
		packed := z.EncodeAll(samples.Data(), nil)
		for len(packed) > 0 {
			n := min(part, len(packed))
			s.Raw(typ, 0, packed[:n])
			packed = packed[n:]
		}
		s.unpacked = int64(len(samples.Data()))
		s.changed = func(file []byte) []byte { return withFeature(file, 27, words(1, 1, 3, 64, 1<<20)) }
	}
}
