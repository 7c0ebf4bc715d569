package main

import (
	"os"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

const narrowBase = 0x40000000 // address of f0 in a 32-bit process

// narrowRecording returns a recording with a sample in each function of a 32-bit process.
func narrowRecording() []byte {
	r := newVectorRecording()
	for i := range uint64(3) {
		r.Sample(vectorPID, 1000000+i, narrowBase+vectorSize*i+8)
	}
	return r.Bytes()
}

// movedRecording returns a recording with samples at the time 1000000 at from, and at 3000000 at to
// and at from.
func movedRecording(from, to uint64) func() []byte {
	return func() []byte {
		r := sampledRecording(from)
		r.Sample(vectorPID, 3000000, vectorBase+to)
		r.Sample(vectorPID, 3000001, vectorBase+from)
		return r.Bytes()
	}
}

// changedRecording returns the sound recording after a change of its bytes.
func changedRecording(change func(rec []byte) []byte) func() []byte {
	return func() []byte { return change(soundRecording().Bytes()) }
}

// putInRecording returns the sound recording with a number changed. at counts from the start of the
// file, or if it is negative from the end of the records.
func putInRecording(at int, v any) func() []byte {
	return changedRecording(func(rec []byte) []byte {
		if at < 0 {
			at += dataEnd(rec)
		}
		put(rec, at, v)
		return rec
	})
}

// recordingVectors are the vectors with a changed recording, and a sound dump.
var recordingVectors = []vector{
	// The file header.
	{name: "magic-bad", rule: "perf.data header", comment: "the magic is PERFILE3", exit: exitFailed, message: "not a perf.data file",
		recording: putInRecording(7, uint8('3'))},
	{name: "empty", rule: "perf.data header", comment: "a file of 0 bytes", exit: exitFailed, message: "it is empty",
		recording: func() []byte { return nil }},
	{name: "header-cut", rule: "perf.data header", comment: "the file ends inside the file header", exit: exitFailed, message: "file header",
		recording: changedRecording(func(rec []byte) []byte { return rec[:50] })},
	{name: "header-size-bad", rule: "perf.data header", comment: "the header's size is 80", exit: exitFailed, message: "size",
		recording: putInRecording(8, uint64(80))},
	{name: "attr-size-0", rule: "perf.data header", comment: "attr_size is 0", exit: exitFailed, message: "attr_size",
		recording: putInRecording(atRecAttrSize, uint64(0))},
	{name: "attr-inner-size-large", rule: "perf_event.h", comment: "the attr's own size is 4096, larger than its entry of the table", exit: exitFailed, message: "size",
		recording: putInRecording(atRecAttr+4, uint32(4096))},
	{name: "attrs-none", rule: "perf.data header", comment: "the attr table is empty: samples cannot be read", exit: exitFailed, message: "the recording has no events",
		recording: putInRecording(atRecAttrsSize, uint64(0))},
	{name: "attrs-size-odd", rule: "perf.data header", comment: "the attr table is no whole number of entries", exit: exitFailed, message: "attrs",
		recording: putInRecording(atRecAttrsSize, uint64(200))},
	{name: "attrs-beyond-end", rule: "perf.data header", comment: "the attr table is beyond the end of the file", exit: exitFailed, message: "attrs",
		recording: putInRecording(24, uint64(1<<40))},
	{name: "ids-beyond-end", rule: "perf.data header", comment: "the ids of the attr are beyond the end of the file", exit: exitFailed, message: "ids",
		recording: putInRecording(atRecAttr+128, uint64(1<<40))},
	{name: "data-beyond-end", rule: "perf.data header", comment: "the data section is larger than the file", exit: exitFailed, message: "data",
		recording: putInRecording(atRecDataSize, uint64(1<<20))},
	{name: "data-offset-overflow", rule: "perf.data header", comment: "offset and size of the data section add up to more than 2^64", exit: exitFailed, message: "data",
		recording: putInRecording(atRecDataOffset, ^uint64(63))},
	{name: "unfinished", rule: "perf.data header", comment: "perf record was killed: the size of the data section is 0, and the records go to the end of the file", exit: exitIncomplete, message: "perf record", functions: allThree,
		recording: changedRecording(func(rec []byte) []byte {
			rec = rec[:dataEnd(rec)]
			put(rec, atRecDataSize, uint64(0))
			return rec
		})},
	{name: "unfinished-cut", rule: "perf.data header", comment: "perf record was killed inside the last sample", exit: exitIncomplete, message: "perf record", functions: "f0 f1",
		recording: changedRecording(func(rec []byte) []byte {
			rec = rec[:dataEnd(rec)-20]
			put(rec, atRecDataSize, uint64(0))
			return rec
		})},
	{name: "feature-beyond-end", rule: "perf.data header", comment: "a feature is beyond the end of the file", exit: exitFailed, message: "feature",
		recording: changedRecording(func(rec []byte) []byte {
			put(rec, dataEnd(rec), uint64(1<<40))
			return rec
		})},
	{name: "feature-table-cut", rule: "perf.data header", comment: "the file ends inside the feature table", exit: exitFailed, message: "feature",
		recording: changedRecording(func(rec []byte) []byte { return rec[:dataEnd(rec)+8] })},

	// Records.
	{name: "record-size-0", rule: "perf_event.h", comment: "the size of the second sample is 0: the place of the next record is unknown", exit: exitFailed, message: "a record of 0 bytes",
		recording: putInRecording(-2*sampleSize+6, uint16(0))},
	{name: "record-size-4", rule: "perf_event.h", comment: "the second sample is smaller than a record's header", exit: exitFailed, message: "a record of 4 bytes",
		recording: putInRecording(-2*sampleSize+6, uint16(4))},
	{name: "record-beyond-end", rule: "perf_event.h", comment: "the last sample is larger than the rest of the data", exit: exitFailed, message: "beyond the end of the data",
		recording: putInRecording(-sampleSize+6, uint16(sampleSize+8))},
	{name: "record-unknown", rule: "perf_event.h", comment: "valid: a record of type 63 is skipped by its size", functions: allThree,
		recording: func() []byte {
			r := soundRecording()
			r.Raw(63, 0, []byte("tomorrow"))
			return r.Bytes()
		}},
	{name: "sample-cut", rule: "perf_event.h", comment: "the second sample is smaller than the fields of sample_type", exit: exitIncomplete, message: "sample", functions: "f0 - f2",
		recording: func() []byte {
			r := sampledRecording(8)
			r.Raw(9, 2, le(vectorBase+vectorSize+8, uint32(vectorPID), uint32(vectorPID)))
			r.Sample(vectorPID, 1000002, vectorBase+2*vectorSize+8)
			return r.Bytes()
		}},
	{name: "mmap-cut", rule: "perf_event.h", comment: "an MMAP2 record is smaller than its fields", exit: exitIncomplete, message: "MMAP2", functions: allThree,
		recording: func() []byte {
			r := soundRecording()
			r.Raw(10, 2, le(uint32(vectorPID), uint32(vectorPID), vectorBase))
			return r.Bytes()
		}},
	{name: "mmap-name-unterminated", rule: "perf_event.h", comment: "the marker's name has no NUL: it ends where the sample id begins", functions: allThree,
		recording: func() []byte {
			r := testrec.NewRecording()
			r.Comm(vectorPID, 900, "prog", true)
			r.Kernel(10, 2, le(uint32(vectorPID), uint32(vectorPID), uint64(0x7f0000000000), uint64(0x1000), uint64(0), uint64(0), uint64(0), uint64(0), uint32(5), uint32(2), "/DIR///////jit-4711.dump"), vectorPID, 1000)
			for i := range uint64(3) {
				r.Sample(vectorPID, 1000000+i, vectorBase+vectorSize*i+8)
			}
			return r.Bytes()
		}},
	{name: "mmap-overflow", rule: "promise", comment: "an MMAP2 record of another file reaches beyond 2^64", functions: allThree,
		recording: func() []byte {
			r := soundRecording()
			r.Mmap2(vectorPID, 950, ^uint64(4095), 1<<40, 0, "/usr/lib/libx.so")
			return r.Bytes()
		}},
	{name: "compressed", rule: "RFC 8878", comment: "valid: all records are in a COMPRESSED record", functions: allThree,
		recording: func() []byte { return compressedRecording(0) }},
	{name: "compressed-damaged", rule: "RFC 8878", comment: "the only block of the zstd frame has the reserved type 3", exit: exitFailed, message: "compressed",
		recording: func() []byte { return compressedRecording(3) }},
	{name: "pipe", rule: "perf.data header", comment: "valid: a recording as perf record -o - writes it", functions: allThree,
		recording: func() []byte { return pipeRecording(soundRecording().Data()) }},
	{name: "pipe-without-data", rule: "perf.data header", comment: "a recording as perf record -o - writes it, cut before the data: a file of it would hold none, and perf refuses that", exit: exitFailed, message: "no data",
		recording: func() []byte { return pipeRecording(nil) }},

	// Markers.
	{name: "marker-none", rule: "promise", comment: "valid: no mapping names a dump, so there is nothing to inject", functions: "- - -",
		recording: func() []byte {
			r := testrec.NewRecording()
			r.Comm(vectorPID, 900, "prog", true)
			for i := range uint64(3) {
				r.Sample(vectorPID, 1000000+i, vectorBase+vectorSize*i+8)
			}
			return r.Bytes()
		}},
	{name: "marker-of-missing-dump", rule: "promise", comment: "the only dump is gone", exit: exitFailed, message: "is gone", withoutDump: true},
	{name: "marker-of-missing-dump-too", rule: "promise", comment: "one of two dumps is gone: it costs only its own process", exit: exitIncomplete, message: "jit-4712.dump is gone", functions: allThree + " -",
		recording: func() []byte {
			r := soundRecording()
			r.Comm(4712, 901, "prog", true)
			r.Marker(4712, 1001, "/DIR/jit-4712.dump")
			r.Sample(4712, 1000003, vectorBase+8)
			return r.Bytes()
		}},
	{name: "marker-twice", rule: "promise", comment: "valid: the dump was mapped twice; each function is there once", functions: allThree,
		recording: func() []byte {
			r := newVectorRecording()
			r.Marker(vectorPID, 1001, vectorMarker)
			for i := range uint64(3) {
				r.Sample(vectorPID, 1000000+i, vectorBase+vectorSize*i+8)
			}
			return r.Bytes()
		}},
}

// Records that are shorter than their fields are counted in a stream, too.
func TestVectors_ShortRecordsInAStream(t *testing.T) {
	r := soundRecording()
	for range 2 {
		r.Raw(9, 2, le(vectorBase, uint32(vectorPID), uint32(vectorPID)))
		r.Raw(10, 2, le(uint32(vectorPID), uint32(vectorPID), vectorBase))
	}
	stageVector(t, &vector{files: []vectorFile{{"perf.data", r.Bytes()}, {"jit-4711.dump", newVectorDump().bytes()}}})
	writeStream(t, ".")
	stream, err := os.ReadFile("perf.pipe")
	if err != nil {
		t.Fatal(err)
	}
	in, null := piped(t, stream, true), open(t, os.DevNull)
	code, stderr := start(in, null, "-i", "-", "-o", "out.data", "--dump-dir", ".")
	if want := "4 records are shorter than their fields, the first is a SAMPLE"; code != exitIncomplete || !strings.Contains(stderr, want) {
		t.Errorf("got exit code %d and %q; want %d and %q", code, stderr, exitIncomplete, want)
	}
	names, err := resolvedNames("out.data")
	if got := strings.Join(names, " "); err != nil || got != "f0 f1 f2 - -" {
		t.Errorf("got samples in %q, %v; want %q", got, err, "f0 f1 f2 - -")
	}
}
