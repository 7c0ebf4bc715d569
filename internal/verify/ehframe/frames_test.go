package ehframe

import (
	"debug/elf"
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/testrec"
)

// TestFramesOfCompiler: in what a compiler made, delve finds the same FDEs, and nothing
// is wrong with the table that a linker made of them.
func TestFramesOfCompiler(t *testing.T) {
	dir := t.TempDir()
	if err := testrec.UnpackTo("toyjit", dir); err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(filepath.Join(dir, "toyjit"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section, header := f.Section(".eh_frame"), f.Section(".eh_frame_hdr")
	data, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	place := callframe.Place{Order: binary.LittleEndian, AddrSize: 8, Machine: elf.EM_X86_64, Addr: section.Addr}
	table, err := Read(place, data)
	if err != nil {
		t.Fatal(err)
	}
	want, err := frame.Parse(data, binary.LittleEndian, 0, 8, section.Addr)
	if err != nil || len(want) != len(table) || len(table) < 20 {
		t.Fatalf("%d FDEs, delve finds %d: %v", len(table), len(want), err)
	}
	found := make(map[[2]uint64]*frame.FrameDescriptionEntry)
	for _, fde := range want {
		found[[2]uint64{fde.Begin(), fde.End()}] = fde
	}
	for _, fde := range table {
		if found[[2]uint64{fde.Low, fde.High}] == nil {
			t.Errorf("delve finds no FDE about %#x to %#x", fde.Low, fde.High)
		}
	}
	hdr, err := header.Data()
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckHeader(place, hdr, header.Addr, table); err != nil {
		t.Error(err)
	}
}
