package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/perfsample"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// benchSamples returns 1000 samples of an event with the given fields: callchains of 40
// entries, 16 branches, stacks of 8 KiB.
func benchSamples(b *testing.B, sampleType uint64) (*perfdata.Layouts, []perfdata.Record) {
	b.Helper()
	rec, s := everything(binary.LittleEndian, sampleType)
	s.Chain = s.Chain[:1]
	for i := range uint64(40) {
		s.Chain = append(s.Chain, 0x7f0000000000+64*i)
	}
	s.Branches = nil
	for i := range uint64(16) {
		s.Branches = append(s.Branches, [2]uint64{i, i + 1})
	}
	s.Stack = bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 1024)
	for range 1000 {
		rec.Touch(s)
	}
	data := rec.Bytes()
	f, err := perfdata.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	layouts, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	if err != nil {
		b.Fatal(err)
	}
	var samples []perfdata.Record
	for r := f.Blocks(); ; {
		block, err := r.Next()
		if err != nil {
			return layouts, samples
		}
		for _, r := range block.Records() {
			if r.Type == perfdata.RecordSample {
				r.Data = bytes.Clone(r.Data)
				samples = append(samples, r)
			}
		}
	}
}

const benchHead = testrec.Identifier | testrec.IP | testrec.TID | testrec.Time | testrec.CPU | testrec.Period

func BenchmarkSampleHead(b *testing.B) {
	layouts, samples := benchSamples(b, benchHead)
	sum := uint64(0)
	for i := 0; b.Loop(); i++ {
		h, ok := layouts.SampleHead(samples[i%1000])
		if ok {
			sum += uint64(h.PID) + h.IP + h.Time
		}
	}
}

func BenchmarkRefs(b *testing.B) {
	for name, sampleType := range map[string]uint64{
		"head": benchHead, "callchain": benchHead | testrec.Callchain, "branches": benchHead | testrec.Branches,
		"stack": benchHead | testrec.Callchain | testrec.RegsUser | testrec.StackUser,
	} {
		b.Run(name, func(b *testing.B) {
			layouts, samples := benchSamples(b, sampleType)
			var refs perfsample.Refs
			var list []uint64
			lo, hi := uint64(0x7f0000000100), uint64(0x7f0000000200)
			for i := 0; b.Loop(); i++ {
				if err := refs.Read(layouts, samples[i%1000]); err != nil {
					b.Fatal(err)
				}
				list = refs.Within(list[:0], lo, hi)
				list = refs.StackWithin(list, lo, hi)
			}
		})
	}
}

func BenchmarkUserStack(b *testing.B) {
	layouts, samples := benchSamples(b, benchHead|testrec.Callchain|testrec.RegsUser|testrec.StackUser)
	n := 0
	for i := 0; b.Loop(); i++ {
		if layouts.Fields(samples[i%1000])&perfdata.FieldStackUser == 0 {
			continue
		}
		var s perfdata.Sample
		if layouts.DecodeSample(samples[i%1000], perfdata.FieldStackUser, &s) == nil {
			n += s.UserStack.Size + len(s.UserStack.Data) + int(s.PID)
		}
	}
}

func BenchmarkDecodeSample(b *testing.B) {
	layouts, samples := benchSamples(b, 1<<25-1)
	var s perfdata.Sample
	for i := 0; b.Loop(); i++ {
		if err := layouts.DecodeSample(samples[i%1000], perfdata.AllFields, &s); err != nil {
			b.Fatal(err)
		}
	}
}
