package jitdump_test

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// Calls that lead out of functions, by offsets: on machines that package cfi decodes, and
// on the one that this package does.
func TestTargets_CallsOutOfFunctions(t *testing.T) {
	code := []byte{0xe8, 0x00, 0x01, 0, 0, 0x75, 0xfe, 0x40, 0xe9, 0xf2, 0xff, 0xff, 0xff, 0xff, 0xd0, 0xe8}
	for machine, want := range map[elf.Machine][]int64{
		elf.EM_X86_64: {0x105, 13 - 14}, elf.EM_386: {0x105, 13 - 14}, elf.EM_SPARCV9: nil,
	} {
		b := newDump(t, jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(machine), PID: 100})
		b.load("other", 0x1000, 8)
		b.code("caller", 0x2000, code)
		var got []int64
		if err := b.scan().Reader().Targets(1, func(to int64) { got = append(got, to) }); err != nil || !slices.Equal(got, want) {
			t.Errorf("for %v: got %#x, %v, want %#x", machine, got, err, want)
		}
	}
}
