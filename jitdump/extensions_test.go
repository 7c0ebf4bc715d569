package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// raw returns a record as a reader would.
func raw(t testing.TB, order binary.ByteOrder, rec jitdump.Record) jitdump.Raw {
	t.Helper()
	h := jitdump.Header{Order: order, Machine: 62}
	r, err := jitdump.NewReader(bytes.NewReader(writeAll(t, &h, []jitdump.Record{rec}, []uint64{1})))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestTierAndSource_ReadAgain(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, rec := range []jitdump.Record{
			jitdump.NewTier(3, jitdump.LightBlue, "Baseline"),
			jitdump.NewTier(255, 77, ""),
			jitdump.NewEmbeddedSource("a.toy", []byte("fn outer() {\n}\n")),
			jitdump.NewEmbeddedSource("empty", []byte{}),
		} {
			r := raw(t, order, rec)
			if len(r.Body)%4 != 0 {
				t.Errorf("%s has %d bytes", r.ID, len(r.Body))
			}
			if got, err := r.Decode(); err != nil || !reflect.DeepEqual(got, rec) {
				t.Errorf("wrote %+v, read %+v, %v", rec, got, err)
			}
		}
	}
	for want, rec := range map[string]jitdump.Record{
		"tier at offset 0x38: is 0":      &jitdump.Unknown{ID: jitdump.IDTier, Body: make([]byte, 10)},
		"is 256":                         &jitdump.Unknown{ID: jitdump.IDTier, Body: []byte{0, 1, 0, 0, 0, 0, 0, 0, 'x', 0}},
		"that are no padding":            &jitdump.Tier{Number: 1, Extra: []byte{0, 1}},
		"no NUL in the 1 bytes":          &jitdump.Unknown{ID: jitdump.IDTier, Body: []byte{1, 0, 0, 0, 0, 0, 0, 0, 'x'}},
		"name at offset 0x40: is empty":  &jitdump.Unknown{ID: jitdump.IDEmbeddedSource, Body: make([]byte, 9)},
		"up to 7 pad the record":         &jitdump.EmbeddedSource{Name: []byte("a"), Extra: make([]byte, 8)},
		"needs 18446744073709551615 byt": &jitdump.Unknown{ID: jitdump.IDEmbeddedSource, Body: []byte("\xff\xff\xff\xff\xff\xff\xff\xffa\x00text")},
	} {
		r := raw(t, binary.LittleEndian, rec)
		_, err := r.Tier()
		if r.ID == jitdump.IDEmbeddedSource {
			_, err = r.EmbeddedSource()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("for %+v: got %v; want %q", rec, err, want)
		}
		if got, err := r.Decode(); err != nil || reflect.TypeOf(got) != reflect.TypeFor[*jitdump.Unknown]() {
			t.Errorf("for %+v: got %T, %v; want *jitdump.Unknown, no error", rec, got, err)
		}
	}
}

// What could not be read again is not written.
func TestWriter_Unreadable(t *testing.T) {
	for want, rec := range map[string]jitdump.Record{
		`"a\x00b" has a NUL`: &jitdump.Load{Name: []byte("a\x00b")},
		`"f\x00" has a NUL`:  &jitdump.DebugInfo2{Files: [][]byte{[]byte("f\x00")}},
		`"g\x00" has a NUL`:  &jitdump.DebugInfo2{Names: [][]byte{[]byte("g\x00")}},
		`"s\x00" has a NUL`:  jitdump.NewEmbeddedSource("s\x00", nil),
		"no name":            jitdump.NewEmbeddedSource("", nil),
		"number 0":           jitdump.NewTier(0, jitdump.Red, "t"),
	} {
		w, err := jitdump.NewWriter(io.Discard, &jitdump.Header{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(1, rec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
