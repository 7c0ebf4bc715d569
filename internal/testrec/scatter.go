package testrec

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// Scatter adds anonymous mappings to the perf.data of an unpacked recording, as a
// runtime with a scattered heap has them: one of 256 KiB in each MiB within 2 GiB of an
// address, and 128 more at distances of 4 GiB. They belong to the process of the first
// marker and come after it. Scatter leaves out those that would overlap a mapping of the
// recording or share the MiB of the address.
func Scatter(dir string, around uint64) error {
	const (
		size = 256 << 10
		mib  = 1 << 20
		gib  = 1 << 30
	)
	return rewrite(dir, func(in []byte) (out []byte) {
		le := binary.LittleEndian
		var marker []byte
		used := make(map[uint64]bool) // MiB of the address space
		use := func(addr, length uint64) {
			for at := addr / mib; at <= (addr+length)/mib && at-addr/mib < 4096; at++ {
				used[at] = true
			}
		}
		use(around, 0)
		for rec := range eachRecord(in) {
			name, _ := mappedFile(rec)
			if name == "" {
				continue
			}
			use(le.Uint64(rec[16:]), le.Uint64(rec[24:]))
			if marker == nil && strings.Contains(name, "/jit-") {
				marker = rec
			}
		}
		heap := func(addr uint64) (rec []byte) {
			if used[addr/mib] {
				return nil
			}
			rec = append(bytes.Clone(marker[:mmapHead]), "//anon\x00\x00"...)
			rec = append(rec, marker[len(marker)-mmapTrailer:]...)
			le.PutUint16(rec[4:], le.Uint16(rec[4:])&^mmapBuildID|mmapData)
			le.PutUint16(rec[6:], uint16(len(rec)))
			clear(rec[32:mmapHead]) // no offset, no file
			le.PutUint64(rec[16:], addr)
			le.PutUint64(rec[24:], size)
			le.PutUint32(rec[64:], 3) // PROT_READ | PROT_WRITE
			le.PutUint32(rec[68:], 2) // MAP_PRIVATE
			return rec
		}
		for rec := range eachRecord(in) {
			out = append(out, rec...)
			if marker == nil || &rec[0] != &marker[0] {
				continue
			}
			for addr := around&^(mib-1) - 2*gib; addr < around+2*gib; addr += mib {
				out = append(out, heap(addr)...)
			}
			for i := range uint64(128) {
				out = append(out, heap(0x100000000000+4*gib*i)...)
			}
		}
		return out
	})
}
