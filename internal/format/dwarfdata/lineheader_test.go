package dwarfdata_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
	"github.com/jitinject/jitinject/internal/wire"
)

// header returns a line table of version 5 without rows, with the given counts of
// directories and files. One of each is there.
func header(order binary.AppendByteOrder, wide bool, dirs, files []byte) []byte {
	var lists bytes.Buffer
	lists.Write([]byte{1, 1, 0x1f}) // DW_LNCT_path as DW_FORM_line_strp
	lists.Write(dirs)
	lists.Write(offset(order, wide))
	lists.Write([]byte{2, 1, 0x08, 2, 0x0b}) // a string, and the directory as data1
	lists.Write(files)
	lists.WriteString("a.c\x00\x00")

	var body []byte
	body = order.AppendUint16(body, 5)
	body = append(body, 8, 0)
	body = append(body, size(order, wide, 6+2+lists.Len())...) // header_length
	body = append(body, 1, 1, 1, 0xfb, 14, 3, 0, 1)            // up to the lengths of two opcodes
	body = append(body, lists.Bytes()...)

	var b []byte
	if wide {
		b = order.AppendUint32(b, math.MaxUint32)
	}
	return append(append(b, size(order, wide, len(body))...), body...)
}

func offset(order binary.AppendByteOrder, wide bool) []byte { return size(order, wide, 0) }

func size(order binary.AppendByteOrder, wide bool, n int) []byte {
	if wide {
		return order.AppendUint64(nil, uint64(n))
	}
	return order.AppendUint32(nil, uint32(n))
}

var one, many = []byte{1}, []byte{0xff, 0xff, 0xff, 0xff, 0x3f} // 2^34 - 1

func TestCheckHeader_Counts(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, wide := range []bool{false, true} {
			for _, c := range []struct {
				dirs, files []byte
				want        string
			}{
				{one, one, ""},
				{many, one, "directory_entry_format"},
				{one, many, "file_name_entry_format"},
				{one, []byte{3}, "string"}, // fewer than are there
			} {
				_, _, err := dwarfdata.CheckLineHeader(order.(binary.ByteOrder), map[string][]byte{dwarfdata.Line: header(order, wide, c.dirs, c.files)}, 0, 0)
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("for %v, 64 bit %v, counts %x and %x: got %v, want an error with %q", order, wide, c.dirs, c.files, err, c.want)
				}
				if _, ok := err.(*wire.Error); err != nil && !ok {
					t.Errorf("%T is no *wire.Error", err)
				}
			}
		}
	}
}

func TestCheckHeader_EveryCut(t *testing.T) {
	whole := header(binary.LittleEndian, false, one, one)
	for n := range whole {
		if _, _, err := dwarfdata.CheckLineHeader(binary.LittleEndian, map[string][]byte{dwarfdata.Line: whole[:n]}, 0, 0); err == nil {
			t.Errorf("the first %d of %d bytes: got no error", n, len(whole))
		}
	}
	if _, _, err := dwarfdata.CheckLineHeader(binary.LittleEndian, map[string][]byte{dwarfdata.Line: whole}, int64(len(whole)+1), 0); err == nil {
		t.Error("an offset behind the end: got no error")
	}
}

// Older versions have no counts. Their directories are relative to that of the compilation.
func TestCheckHeader_OlderVersion(t *testing.T) {
	b := []byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 1, 1, 1, 0, 14, 1, 'd', 0, 'e', 0, 0, 'f', 0, 1, 0, 0, 0}
	b[0] = byte(len(b) - 4)
	size, texts, err := dwarfdata.CheckLineHeader(binary.LittleEndian, map[string][]byte{dwarfdata.Line: b}, 0, 1000)
	if err != nil || size != len(b)-4 || texts < 4*1000 {
		t.Errorf("got %d bytes, %d of texts, %v; want %d and three paths below the directory", size, texts, err, len(b)-4)
	}
}
