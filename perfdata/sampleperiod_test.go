package perfdata_test

import (
	"encoding/binary"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// The quick way to a sample's period finds what decoding all of the sample finds, whichever fields precede
// it.
func TestSamplePeriod_AsDecoded(t *testing.T) {
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		for extra := range uint64(32) {
			rec := testrec.NewRecording()
			rec.Order = order
			rec.SampleType = testrec.IP | testrec.TID | testrec.Period
			for bit, field := range []uint64{uint64(perfdata.FieldTime), uint64(perfdata.FieldAddr), uint64(perfdata.FieldID), uint64(perfdata.FieldStreamID), uint64(perfdata.FieldCPU)} {
				if extra>>bit&1 != 0 {
					rec.SampleType |= field
				}
			}
			rec.Touch(testrec.Touch{PID: 5, Time: 400, IP: 0x400010, Period: 123456})
			f := open(t, rec.Bytes())
			ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			records(t, f, func(_ int64, r perfdata.Record) {
				n++
				var s perfdata.Sample
				if err := ls.DecodeSample(r, 0, &s); err != nil || s.Period != 123456 {
					t.Fatalf("sample type %#x: got %v, period %d; want no error, 123456", rec.SampleType, err, s.Period)
				}
				if attr, period, ok := ls.SamplePeriod(r); !ok || attr != 0 || period != s.Period {
					t.Errorf("sample type %#x: got attr %d, period %d, %v; want attr 0, period %d", rec.SampleType, attr, period, ok, s.Period)
				}
				r.Data = r.Data[:16]
				if _, _, ok := ls.SamplePeriod(r); ok {
					t.Errorf("sample type %#x: got the period of a sample of 16 bytes", rec.SampleType)
				}
			})
			if n != 1 {
				t.Fatalf("got %d records; want 1", n)
			}
		}
	}
}
