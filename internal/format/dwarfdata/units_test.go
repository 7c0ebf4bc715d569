package dwarfdata

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// debug/dwarf keeps each table of abbreviations. Units may have many that end in the same bytes.
func TestNew_TablesThatShareAbbreviations(t *testing.T) {
	abbrev := append(bytes.Repeat([]byte{1, 0x11, 0, 0, 0}, 1000), 0)
	unit := []byte{9, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0} // version 4, table at 0
	second := bytes.Clone(unit)
	binary.LittleEndian.PutUint32(second[6:], 5)
	for _, info := range [][]byte{unit, bytes.Repeat(unit, 2), append(bytes.Clone(unit), second...)} {
		_, err := New(binary.LittleEndian, map[string][]byte{Info: info, Abbrev: abbrev})
		if shares := bytes.HasSuffix(info, second); shares != (err != nil && strings.Contains(err.Error(), "overlap")) {
			t.Errorf("got error %v; want one of overlaps: %v", err, shares)
		}
	}
}
