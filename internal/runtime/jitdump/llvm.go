package jitdump

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/jitinject/jitinject/internal/ehframe"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// LLVM's ORC (JITLoaderPerf.cpp, LLVM 18 and later) writes a batch of records for each
// object file, under a lock: one unwinding record with the FDEs of all functions, the debug
// records of all, then the loads. The header in the unwinding record says where .eh_frame
// was, and so which code each FDE is about. perf gives all of it to the first load.

// An unwindBatch is an unwinding record of several functions.
type unwindBatch struct {
	record source.Span
	*ehframe.Batch
	users int // number of functions with FDEs in it

	// frames are its tables, which stay in memory: any number of functions, in any order, may
	// have some. sum is the hash of the record's body.
	frames []byte
	sum    [sha256.Size]byte
}

// unwinding records an unwinding record.
func (s *scanner) unwinding(raw *jitdump.Raw, u *jitdump.Unwinding) {
	s.endBatch()
	if b, ok := ehframe.ReadBatch(s.order(), s.addrSize(), u.Data, u.HeaderSize); ok {
		s.pairing.unwinding(source.Span{}, 0)
		s.batches = append(s.batches, unwindBatch{
			record: spanOf(raw), Batch: b,
			frames: bytes.Clone(u.Data[b.Offset : b.Offset+b.Size]), sum: sha256.Sum256(raw.Body),
		})
		s.pairing.tables, s.pairing.loading = len(s.batches), false
		return
	}
	// CPython rounds up to 16; a larger claim is implausible.
	s.pairing.unwinding(spanOf(raw), min(u.MappedSize, uint64(len(u.Data)+15)&^15))
}

// unwindingOf returns the unwinding record of a load. mapped is the size of its tables in memory
// after the code, in bytes.
func (s *scanner) unwindingOf(l *jitdump.Load) (record source.Span, mapped uint64) {
	p := &s.pairing
	if p.tables == 0 {
		return p.takeUnwinding()
	}
	p.loading = true
	b := &s.batches[p.tables-1]
	if !b.Has(s.codeStart(l.CodeAddr), l.CodeSize) {
		return source.Span{}, 0
	}
	b.users++
	return b.record, 0
}

// endBatch notes that no more loads belong to the unwinding record of a batch.
func (s *scanner) endBatch() {
	p := &s.pairing
	if p.tables == 0 {
		return
	}
	if b := &s.batches[p.tables-1]; p.loading && b.users == 0 {
		s.fixes.unwind.Add(1)
		s.Problem(b.record.Off, "%s at offset %#x: none of its FDEs is about code of the functions that follow, with .eh_frame at %#x, as its .eh_frame_hdr says; its tables are left out", jitdump.IDUnwinding, b.record.Off, b.Addr)
	}
	p.tables, p.loading = 0, false
}

// ownUnwinding returns the unwinding record of a function, unless that is of a batch.
func (l *listing) ownUnwinding(p *parts) source.Span {
	if p.unwind.Size == 0 || l.batchOf(p.unwind) != nil {
		return source.Span{}
	}
	return p.unwind
}

// batchOf returns the batch of an unwinding record, or nil.
func (l *listing) batchOf(record source.Span) *unwindBatch {
	i, ok := slices.BinarySearchFunc(l.batches, record.Off, func(b unwindBatch, off int64) int { return cmp.Compare(b.record.Off, off) })
	if !ok {
		return nil
	}
	return &l.batches[i]
}

// batchTables returns the tables of fn in a batch.
func (r *Reader) batchTables(fn *jitcode.Function, b *unwindBatch) (jitcode.FrameTable, error) {
	table, err := b.Check(r.placeOf(fn), b.frames)
	if err == nil && len(table.FDEs) > 0 {
		r.fixes.displaced.Add(1)
	}
	return table, err
}
