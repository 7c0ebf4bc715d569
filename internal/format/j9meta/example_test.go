package j9meta_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"log"
	"os"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// What a sample at an offset into the code was doing, innermost call first.
func Example() {
	blob, err := os.ReadFile("testdata/inline-216.bin")
	if err != nil {
		log.Fatal(err)
	}
	body, err := j9meta.Decode(blob, 0x7e0000000000, j9meta.Layout{
		Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("header of %d bytes, %d inlined calls\n", body.Layout.HeaderSize, len(body.Sites))
	r, ok := body.RangeAt(0x300)
	if !ok {
		log.Fatal("no stack map")
	}
	fmt.Printf("from %#x to %#x:\n", r.Start, r.End)
	for _, f := range body.Stack(nil, r.Info) {
		fmt.Printf("  method %#x, bytecode %d\n", f.Method, f.ByteCodeIndex)
	}
	// Output:
	// header of 216 bytes, 5 inlined calls
	// from 0x26e to 0x310:
	//   method 0x500060, bytecode 271
	//   method 0x500080, bytecode 191
	//   method 0x5000c0, bytecode 82
	//   method 0x500000, bytecode 46
}
