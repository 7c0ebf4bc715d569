package checkproducer

import (
	"context"
	"debug/elf"
	"errors"
	"io"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/jitdump"
)

// Check reports what a dump lacks, as notes. It sets Complete of r's result if nothing is missing.
// A dump without functions gets no notes. skew is how many bytes the addresses in the dump's
// JIT_CODE_DEBUG_INFO are too high; usually 0. The error is ctx's, or one of the file header.
func Check(ctx context.Context, r *verify.Reporter, src io.ReaderAt, skew uint64) error {
	reader, err := jitdump.NewReader(src)
	if err != nil {
		return verify.PlainError(err)
	}
	s := newScan(skew)
	if err := s.read(ctx, reader); err != nil || s.functions == 0 {
		return err
	}
	before := r.Result.Notes
	s.reportNames(r)
	s.reportLines(r)
	s.reportFiles(r)
	s.reportTree(r)
	s.reportUnwinding(r, elf.Machine(reader.Header().Machine))
	if !s.closed {
		r.Violation("producer/close", -1, "JIT_CODE_CLOSE: missing")
	}
	r.Result.Complete = r.Result.Notes == before
	return nil
}

// read adds all records that can be read. The ordinary check reports the others.
func (s *scan) read(ctx context.Context, reader *jitdump.Reader) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		raw, err := reader.Next()
		if errors.Is(err, jitdump.ErrTooLarge) {
			continue
		}
		if err != nil {
			if _, ok := reader.Resync(); ok {
				continue
			}
			return nil
		}
		s.record(&raw)
	}
}

// enough is the share of the code bytes, in percent, from which on lines and unwind tables count as
// present: some code, such as stubs, has none.
const enough = 90

// percent returns part in percent of whole, rounded down.
func percent(part, whole uint64) uint64 {
	if whole == 0 {
		return 100
	}
	return part * 100 / whole
}

func (s *scan) reportNames(r *verify.Reporter) {
	if s.unnamed > 0 {
		r.Violation("producer/names", -1, "names: %d of %s", s.functions-s.unnamed, s.counted())
	}
	if s.functions > 3 && s.most > s.functions/2 {
		r.Violation("producer/names", -1, "names: %s for %d of %s", verify.Quoted(s.mostName), s.most, s.counted())
	}
}

func (s *scan) reportLines(r *verify.Reporter) {
	if share := percent(s.covered, s.bytes); share < enough {
		r.Violation("producer/lines", -1, "lines: %d of %s, %d%% of the code bytes", s.withLines, s.counted(), share)
	}
	if s.treeOnly > 0 {
		r.Violation("producer/plain-lines", -1, "lines for perf inject: %d of %s with lines", s.withLines-s.treeOnly, verify.Counted(s.withLines, "function"))
	}
	if s.positions > 0 && s.columns == 0 {
		r.Violation("producer/columns", -1, "columns: 0 of %s", verify.Counted(s.positions, "source position"))
	}
}

// reportTree reports what only DEBUG_INFO2 can have.
func (s *scan) reportTree(r *verify.Reporter) {
	if s.withCalls == 0 {
		r.Violation("producer/calls", -1, "inlined calls: 0 of %s", s.counted())
	}
	if !s.user {
		r.Violation("producer/user", -1, "flag of the user's program: 0 of %s", s.counted())
	}
	if s.tiered == 0 {
		r.Violation("producer/tiers", -1, "tiers: 0 of %s", s.counted())
	}
}

func (s *scan) reportUnwinding(r *verify.Reporter, machine elf.Machine) {
	share := percent(s.unwound, s.bytes)
	if share >= enough {
		return
	}
	derived := "jitinject derives none for this machine"
	if machine == elf.EM_X86_64 || machine == elf.EM_AARCH64 {
		derived = "only jitinject derives them from the code"
	}
	r.Violation("producer/unwind", -1, "unwind tables: %d of %s, %d%% of the code bytes; %s", s.withUnwind, s.counted(), share, derived)
}

func (s *scan) counted() string { return verify.Counted(s.functions, "function") }
