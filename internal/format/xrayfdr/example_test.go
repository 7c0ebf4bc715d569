package xrayfdr_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log"

	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/format/xrayfdr/xraygen"
)

func init() { xrayfdr.SetWriter(xraygen.NewWriter) }

// A trace is written, and its blocks are read one by one.
func Example() {
	var file bytes.Buffer
	w, err := xraygen.NewWriter(&file, &xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: 2_000_000_000})
	if err != nil {
		log.Fatal(err)
	}
	w.Begin(&xrayfdr.Block{TID: 12, PID: 11, Seconds: 3, TSC: 1000})
	w.Function(xrayfdr.Enter, 1, 1000)
	w.Function(xrayfdr.Enter, 2, 1400)
	w.Begin(&xrayfdr.Block{TID: 12, PID: 11, Seconds: 4, TSC: 5000})
	w.CustomEvent(5000, []byte("hello"))
	w.Function(xrayfdr.Exit, 2, 6000)
	if err := w.End(); err != nil { // errors of the calls before stick
		log.Fatal(err)
	}

	src := bytes.NewReader(file.Bytes())
	index, err := xrayfdr.ReadIndex(src, src.Size())
	if err != nil {
		log.Fatal(err)
	}
	r := xrayfdr.NewBlockReader(src, index.Header)
	for _, block := range index.Blocks {
		fmt.Println("thread", block.TID)
		r.OpenBlock(block)
		for {
			rec, err := r.Next()
			if err != nil { // io.EOF, or what ended the block early
				break
			}
			switch {
			case rec.Kind.IsFunction():
				fmt.Println(rec.TSC, rec.Kind, rec.Function)
			case rec.Kind == xrayfdr.CustomEvent:
				fmt.Printf("%d %s\n", rec.TSC, rec.Payload)
			}
		}
	}
	// Output:
	// thread 12
	// 1000 Enter 1
	// 1400 Enter 2
	// thread 12
	// 5000 hello
	// 6000 Exit 2
}
