package xrayfdr

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"
)

// everything writes three blocks with each kind of record.
func everything(t testing.TB, order binary.ByteOrder) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := newWriter(&file, &Header{Order: order, Version: Version, ConstantTSC: true, CycleFrequency: 2e9, BufferSize: 512})
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for tid := uint32(100); tid < 103; tid++ {
		check(w.Begin(&Block{TID: tid, PID: 77, Seconds: 12, Microseconds: 345678, TSC: 1 << 40, CPU: 3}))
		tsc := uint64(1 << 40)
		check(w.Function(Enter, 1, tsc))
		check(w.Function(EnterArgs, 1<<28-1, tsc+5))
		check(w.Argument(0x1122334455667788))
		check(w.CPU(258, tsc+100))
		check(w.Function(Exit, 1<<28-1, tsc+107))
		check(w.CustomEvent(tsc+110, []byte("custom")))
		check(w.TypedEvent(0x1234, tsc+120, []byte("typed event")))
		check(w.Function(TailExit, 1, tsc+1<<33))
	}
	check(w.End())
	return file.Bytes()
}

func orders() []binary.ByteOrder { return []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} }

// copyTrace reads a trace and writes what it read.
func copyTrace(t testing.TB, file []byte, seen func(*Record)) ([]byte, Fixes) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := newWriter(&out, r.Header())
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := r.NextBlock(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			seen(rec)
			if err := w.Record(rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), r.Fixes()
}

func TestWriter_ReadAgain(t *testing.T) {
	for _, order := range orders() {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			file := everything(t, order)
			var last Record
			n := 0
			out, fixes := copyTrace(t, file, func(rec *Record) { last = *rec; n++ })
			if !bytes.Equal(file, out) {
				t.Errorf("reading and writing changes the file:\n%x\n%x", file, out)
			}
			if fixes != (Fixes{}) {
				t.Errorf("repairs of a file without faults: %v", fixes)
			}
			if want := uint64(1<<40 + 1<<33); last.TSC != want || last.CPU != 258 {
				t.Errorf("the last record is %+v", last)
			}
			if n < 3*11 {
				t.Errorf("%d records", n)
			}
		})
	}
}
