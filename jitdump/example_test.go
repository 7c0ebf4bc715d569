package jitdump_test

import (
	"bytes"
	"fmt"

	"github.com/jitinject/jitinject/jitdump"
)

// A compiler that inlines square into poly describes both while it emits code.
func ExampleInlineBuilder() {
	var b jitdump.InlineBuilder
	b.Function("poly", "math.toy", 1, 0, jitdump.UserFunction) // the outer one
	square := b.Function("square", "math.toy", 8, 0, jitdump.UserFunction)

	// poly, line 3: "square(x) + 1", the call at column 8.
	call := b.Inline(jitdump.Outer, square, 3, 8)
	b.At(0, jitdump.Outer, 2, 0) // prologue
	b.At(4, call, 9, 4)          // x * x, in square
	b.At(9, jitdump.Outer, 3, 18)
	b.At(16, call, 10, 4) // cold code of square, at the end of poly

	info, err := b.Record(20)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(info.Calls), "call in", info.Ranges)

	// One call of Write for each record; under a lock, as the inline tree belongs to
	// the load that comes next in the file.
	var file bytes.Buffer
	w, err := jitdump.NewWriter(&file, &jitdump.Header{Version: 1, Machine: 62, PID: 4711, Timestamp: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := uint64(2) // CLOCK_MONOTONIC
	for _, rec := range []jitdump.Record{
		jitdump.NewEmbeddedSource("math.toy", []byte("fn poly(x) {\n...")),
		info,
		&jitdump.Load{PID: 4711, TID: 4711, VMA: 0x7f0000000000, CodeAddr: 0x7f0000000000, CodeIndex: 1, Name: []byte("poly"), Code: make([]byte, 20)},
	} {
		if err := w.Write(now, rec); err != nil {
			fmt.Println(err)
			return
		}
	}

	r, err := jitdump.NewReader(bytes.NewReader(file.Bytes()))
	if err != nil {
		fmt.Println(err)
		return
	}
	for raw, err := range r.Records() {
		fmt.Println(raw.ID, err)
	}
	// Output:
	// 1 call in [{4 5} {16 4}]
	// SAMPLY_EMBEDDED_SOURCE_FILE <nil>
	// SAMPLY_JIT_CODE_DEBUG_INFO2 <nil>
	// JIT_CODE_LOAD <nil>
}
