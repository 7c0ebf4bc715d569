package jitdump_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/jitdump"
)

// dump is a file with one function of two lines.
func dump() []byte {
	var file bytes.Buffer
	w, _ := jitdump.NewWriter(&file, &jitdump.Header{Version: 1, Machine: uint32(elf.EM_X86_64), PID: 4711, Timestamp: 1000})
	w.Write(1001, jitdump.NewDebugInfo(binary.LittleEndian, 0x7f0000001000, []jitdump.DebugEntry{
		{Addr: 0x7f0000001000, Line: 3, Name: []byte("app.toy")},
		{Addr: 0x7f0000001003, Line: 4, Name: []byte("app.toy")},
	}))
	w.Write(1002, &jitdump.Load{
		PID: 4711, TID: 4711, VMA: 0x7f0000001000, CodeAddr: 0x7f0000001000, CodeIndex: 1,
		Name: []byte("main"), Code: []byte{0x31, 0xc0, 0x90, 0xc3},
	})
	return file.Bytes()
}

// A compiler writes each function when it has made its code: first its lines, then the
// code.
func ExampleWriter() {
	var file bytes.Buffer // in earnest: jit-PID.dump, opened with O_APPEND, a page of it mapped executable
	w, err := jitdump.NewWriter(&file, &jitdump.Header{Version: 1, Machine: uint32(elf.EM_X86_64), PID: 4711, Timestamp: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	const addr = 0x7f0000001000
	now := uint64(1001) // nanoseconds of CLOCK_MONOTONIC
	for _, rec := range []jitdump.Record{
		jitdump.NewDebugInfo(binary.LittleEndian, addr, []jitdump.DebugEntry{{Addr: addr, Line: 3, Name: []byte("app.toy")}}),
		&jitdump.Load{PID: 4711, TID: 4711, VMA: addr, CodeAddr: addr, CodeIndex: 1, Name: []byte("main"), Code: []byte{0x31, 0xc0, 0xc3}},
	} {
		if err := w.Write(now, rec); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("%d bytes, %q\n", file.Len(), file.Bytes()[:4])
	// Output:
	// 160 bytes, "DTiJ"
}

// Names, addresses and lines of the functions in a dump.
func ExampleReader_Records() {
	r, err := jitdump.NewReader(bytes.NewReader(dump()))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("process %d, %v\n", r.Header().PID, elf.Machine(r.Header().Machine))
	for raw, err := range r.Records() {
		if err != nil {
			fmt.Println(err) // a record that the end of the file cuts, or damage
			break
		}
		rec, err := raw.Decode()
		if err != nil {
			fmt.Println(err)
			continue
		}
		switch rec := rec.(type) {
		case *jitdump.Load:
			fmt.Printf("%d: %s, %d bytes at %#x\n", raw.Timestamp, rec.Name, len(rec.Code), rec.CodeAddr)
		case *jitdump.DebugInfo:
			for e, err := range rec.Entries() {
				if err != nil {
					fmt.Println(err)
					break
				}
				fmt.Printf("%#x is from %s:%d\n", e.Addr, e.Name, e.Line)
			}
		default:
			fmt.Println(raw.ID)
		}
	}
	// Output:
	// process 4711, EM_X86_64
	// 0x7f0000001000 is from app.toy:3
	// 0x7f0000001003 is from app.toy:4
	// 1002: main, 4 bytes at 0x7f0000001000
}

// Where a dump is damaged.
func ExampleError() {
	file := dump()
	binary.LittleEndian.PutUint64(file[160:], 1000) // code_size of the load
	r, err := jitdump.NewReader(bytes.NewReader(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	for raw := range r.Records() {
		_, err := raw.Decode()
		var at *jitdump.Error
		if errors.As(err, &at) {
			fmt.Println("record:", at.Record)
			fmt.Println("field:", at.Field)
			fmt.Println("offset:", at.Offset)
			fmt.Println("text:", at.Text)
		}
	}
	// Output:
	// record: JIT_CODE_LOAD
	// field: code
	// offset: 181
	// text: code_size is 1000, but 4 bytes of the record are left
}
