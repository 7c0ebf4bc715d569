package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// rawLoad is a JIT_CODE_LOAD of size bytes with any bytes behind its fields.
func rawLoad(size uint64, rest string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(16+40+len(rest)))
	b = binary.LittleEndian.AppendUint64(b, 5)
	b = binary.LittleEndian.AppendUint64(b, 7|7<<32)
	for _, v := range []uint64{0x1000, 0x1000, size, 3} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return append(b, rest...)
}

// A record that ends with its name has no code, as .NET writes blocks of stubs. One whose
// name has no NUL is damaged, and the error says so.
func TestLoad_Codeless(t *testing.T) {
	const stub = "stub ReportStubBlock<StubPrecode>\x00"
	for _, c := range []struct {
		name     string
		size     uint64
		rest     string
		codeless bool
		want     string // in the error
	}{
		{"a block of stubs", 0x4000, stub, true, ""},
		{"a name that is longer than the code", 8, stub, true, ""},
		{"all of the code", 2, "f\x00\x90\xc3", false, ""},
		{"no code at all", 0, "f\x00", false, ""},
		{"larger than any record", jitdump.MaxRecord + 1, stub, false, "code_size is 67108865, but 0 bytes of the record are left"},
		{"some of the code", 0x4000, stub + "\x90\xc3", false, "code_size is 16384, but 2 bytes of the record are left"},
		{"a name without a NUL", 10, "hot\x55\x00\x48\x89\xe5\x31\xc0\x5d\xc3\x90", false, "code_size is 10, but 8 bytes of the record are left; the name before them may lack its NUL"},
		{"a name without a NUL, and code that ends in one", 4, "hot\x31\xc0\x5d\x00", false, "code_size is 4, but 0 bytes of the record are left; the name before them may lack its NUL"},
		{"no name", 0x4000, "\x00", false, "code_size is 16384, but 0 bytes"},
	} {
		b := rawLoad(c.size, c.rest)
		raw, err := jitdump.ParseRecord(b, binary.LittleEndian, 40)
		if err != nil {
			t.Fatal(err)
		}
		l, err := raw.Load()
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "NUL") != strings.Contains(c.want, "NUL") {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			continue
		}
		if err != nil || l.LacksCode() != c.codeless || l.CodeSize != c.size {
			t.Errorf("%s: codeless %v, %d bytes, %v; want %v, %d", c.name, l.LacksCode(), l.CodeSize, err, c.codeless, c.size)
			continue
		}
		var out bytes.Buffer
		w, err := jitdump.NewWriter(&out, &jitdump.Header{Order: binary.LittleEndian, Version: 1})
		if err == nil {
			err = w.Write(raw.Timestamp, &l)
		}
		if err != nil || !bytes.Equal(out.Bytes()[40:], b) {
			t.Errorf("%s: written again it is\n% x\nwant\n% x (%v)", c.name, out.Bytes()[40:], b, err)
		}
	}
}
