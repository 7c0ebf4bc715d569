package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Whatever the bytes are, reading ends, and records that can be looked into are.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"php", "lli-hot", "node-fp", "node-dwarf"} {
		in := readRecording(f, name)
		// The first records and no features: small enough to be mutated.
		le := binary.LittleEndian
		at := le.Uint64(in[40:])
		size := uint64(0)
		for size < 3000 {
			size += uint64(le.Uint16(in[at+size+6:]))
		}
		b := bytes.Clone(in[:at+size])
		le.PutUint64(b[48:], size)
		clear(b[72:104])
		f.Add(b)
	}
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		rec := testrec.NewRecording()
		rec.Order = order
		rec.SampleType |= testrec.Identifier | testrec.CPU
		rec.Comm(1, 100, "a", true)
		rec.Fork(2, 1, 150)
		rec.Sample(1, 200, 0x1000)
		f.Add(oneMmap(rec))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := perfdata.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			_ = err.Error()
			return
		}
		for i := range file.Attrs {
			a := &file.Attrs[i]
			a.Type()
			a.Config()
			a.SampleType()
			a.ClockID()
			perfdata.TrailerOf(a)
		}
		for i := range file.Features {
			content, err := file.Features[i].Bytes()
			if err != nil {
				continue
			}
			for _, err := range perfdata.BuildIDs(file.Header.Order, content) {
				_ = err
			}
			perfdata.MapAuxtraceIndex(file.Header.Order, content, func(o uint64) uint64 { return o })
		}
		ls, err := perfdata.NewLayouts(file.Header.Order, file.Attrs)
		if err != nil {
			return
		}
		_ = ls.CanDecode()
		var sample perfdata.Sample
		var deferred perfdata.DeferredCallchain
		for r := file.Blocks(); ; {
			block, err := r.Next()
			if err != nil {
				_ = err.Error()
				return
			}
			total := 0
			for pos, rec := range block.Records() {
				if pos != total {
					t.Fatalf("record at %d, the one before ended at %d", pos, total)
				}
				total += len(rec.Data)
				ls.Time(rec)
				ls.DecodeSample(rec, perfdata.AllFields, &sample)
				ls.DecodeDeferred(rec, &deferred)
				ls.SampleHead(rec)
				ls.SampleChain(rec)
				ls.SampleID(rec)
				ls.EventID(rec)
				ls.Mmap(rec)
				ls.Comm(rec)
				ls.Task(rec)
				ls.TimeConv(rec)
			}
			if !block.Opaque && total != len(block.Data) {
				t.Fatalf("records fill %d of %d bytes", total, len(block.Data))
			}
		}
	})
}

// Whatever a sample and its event say, what is decoded lies in it.
func FuzzDecodeSample(f *testing.F) {
	for _, big := range []bool{false, true} {
		order := testrec.Order(binary.LittleEndian)
		if big {
			order = binary.BigEndian
		}
		for _, sampleType := range []uint64{1<<25 - 1, testrec.TID | testrec.Callchain | testrec.StackUser, testrec.TID | testrec.Read | testrec.Branches} {
			rec, s := everything(order, sampleType)
			rec.ReadFormat, rec.BranchType = 31, 1<<17|1<<19
			rec.Touch(s)
			records(f, open(f, rec.Bytes()), func(_ int64, r perfdata.Record) {
				f.Add(big, sampleType, rec.ReadFormat, rec.BranchType, rec.Registers, r.Data[8:])
			})
		}
	}
	f.Fuzz(func(t *testing.T, big bool, sampleType, readFormat, branchType, registers uint64, body []byte) {
		rec := testrec.NewRecording()
		if big {
			rec.Order = binary.BigEndian
		}
		rec.SampleType, rec.ReadFormat, rec.BranchType, rec.Registers = sampleType, readFormat, branchType, registers
		file := open(t, rec.Bytes())
		ls, err := perfdata.NewLayouts(file.Header.Order, file.Attrs)
		if err != nil {
			return
		}
		var s perfdata.Sample
		data := append(make([]byte, 8), body...)
		err = ls.DecodeSample(perfdata.Record{Type: perfdata.RecordSample, Data: data}, perfdata.AllFields, &s)
		words := len(s.Callchain) + 3*len(s.Branches) + len(s.UserRegs.Values) + len(s.IntrRegs.Values) + len(s.Read.Values)
		if bytes := 8*words + len(s.Raw) + s.UserStack.Size + len(s.Aux); bytes > len(body) {
			t.Fatalf("%d bytes of fields in %d bytes, %v", bytes, len(body), err)
		}
		var d perfdata.DeferredCallchain
		err = ls.DecodeDeferred(perfdata.Record{Type: perfdata.RecordCallchainDeferred, Data: data}, &d)
		if 8*len(d.Callchain) > len(body) {
			t.Fatalf("%d addresses in %d bytes, %v", len(d.Callchain), len(body), err)
		}
	})
}
