package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/jitdump"
)

// A dumpBuilder writes dumps for tests. Records get times 1, 2, 3, ...
type dumpBuilder struct {
	t     testing.TB
	out   bytes.Buffer
	w     *jitdump.Writer
	order binary.ByteOrder
	time  uint64
}

// x86 is the head of most test dumps.
var x86 = jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: 62, PID: 100}

func newDump(t testing.TB, h jitdump.Header) *dumpBuilder {
	t.Helper()
	b := &dumpBuilder{t: t, order: h.Order}
	w, err := jitdump.NewWriter(&b.out, &h)
	if err != nil {
		t.Fatal(err)
	}
	b.w = w
	return b
}

func (b *dumpBuilder) add(rec jitdump.Record) {
	b.t.Helper()
	b.time++
	if err := b.w.Write(b.time, rec); err != nil {
		b.t.Fatal(err)
	}
}

// load adds a function of size bytes, each an instruction of its own on x86.
func (b *dumpBuilder) load(name string, addr uint64, size int) {
	b.t.Helper()
	b.code(name, addr, bytes.Repeat([]byte{0x90}, size))
}

func (b *dumpBuilder) code(name string, addr uint64, code []byte) {
	b.t.Helper()
	b.add(&jitdump.Load{PID: 100, TID: 100, VMA: addr, CodeAddr: addr, CodeIndex: b.time, Name: []byte(name), Code: code})
}

// debug adds a debug record for the function at addr. at are the offsets of its
// entries, whose lines count from 1, in the file of that name.
func (b *dumpBuilder) debug(addr uint64, file string, at ...int64) {
	b.t.Helper()
	var entries []jitdump.DebugEntry
	for i, off := range at {
		entries = append(entries, jitdump.DebugEntry{Addr: addr + uint64(off), Line: uint32(i + 1), Name: []byte(file)})
	}
	b.entries(addr, entries...)
}

func (b *dumpBuilder) entries(addr uint64, entries ...jitdump.DebugEntry) {
	b.t.Helper()
	b.add(jitdump.NewDebugInfo(b.order, addr, entries))
}

func (b *dumpBuilder) scan() *jitdumps.Dump {
	b.t.Helper()
	return scan(b.t, bytes.NewReader(b.out.Bytes()))
}

func scan(t testing.TB, src io.ReaderAt) *jitdumps.Dump {
	t.Helper()
	d, err := jitdumps.OpenFile(src)
	if err == nil {
		err = d.Scan(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}
