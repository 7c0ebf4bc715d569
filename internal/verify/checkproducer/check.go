package checkproducer

import (
	"debug/elf"

	"github.com/jitinject/jitinject/internal/verify"
)

// Write reports what the dump lacks, as notes. It sets Complete of r's result if nothing is missing. A dump
// without functions gets no notes.
func (s *Summary) Write(r *verify.Reporter, machine elf.Machine) {
	if s.functions == 0 {
		return
	}
	before := r.Result.Notes
	s.reportNames(r)
	s.reportLines(r)
	s.reportFiles(r)
	s.reportTree(r)
	s.reportUnwinding(r, machine)
	if !s.Closed {
		r.Violation("producer/close", -1, "JIT_CODE_CLOSE: missing")
	}
	r.Result.Complete = r.Result.Notes == before
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

func (s *Summary) reportNames(r *verify.Reporter) {
	if s.unnamed > 0 {
		r.Violation("producer/names", -1, "names: %d of %s", s.functions-s.unnamed, s.counted())
	}
	if s.functions > 3 && s.most > s.functions/2 {
		r.Violation("producer/names", -1, "names: %s for %d of %s", verify.Quoted(s.mostName), s.most, s.counted())
	}
}

func (s *Summary) reportLines(r *verify.Reporter) {
	if share := percent(s.covered, s.bytes); share < enough {
		r.Violation("producer/lines", -1, "lines: %d of %s, %d%% of the code bytes", s.withLines, s.counted(), share)
	}
	if s.withPlain < s.withLines {
		r.Violation("producer/plain-lines", -1, "lines for perf inject: %d of %s with lines", s.withPlain, verify.Counted(s.withLines, "function"))
	}
	if s.positions > 0 && s.columns == 0 {
		r.Violation("producer/columns", -1, "columns: 0 of %s", verify.Counted(s.positions, "source position"))
	}
}

// reportTree reports what only DEBUG_INFO2 can have.
func (s *Summary) reportTree(r *verify.Reporter) {
	if s.withCalls == 0 {
		r.Violation("producer/calls", -1, "inlined calls: 0 of %s", s.counted())
	}
	if !s.User {
		r.Violation("producer/user", -1, "flag of the user's program: 0 of %s", s.counted())
	}
	if !s.Tiered {
		r.Violation("producer/tiers", -1, "tiers: 0 of %s", s.counted())
	}
}

func (s *Summary) reportUnwinding(r *verify.Reporter, machine elf.Machine) {
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

func (s *Summary) counted() string { return verify.Counted(s.functions, "function") }
