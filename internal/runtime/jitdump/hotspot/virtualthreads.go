package hotspot

import (
	"bytes"
	"debug/elf"
	"math"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// A virtual thread of HotSpot that continues has only its innermost frames on the stack of its
// carrier. The outermost of these returns to a stub, the return barrier, which fetches its caller. The
// frame above it on the stack is that of enterSpecial, which made the thread run. perf looks for the
// row of a return address at the byte before it, which is the last byte of the stub before.
//
// At that byte, the stack pointer of a caller is at enterSpecial's ContinuationEntry, if the frame
// below has no arguments on the stack (ThawBase::patch_return of continuationFreezeThaw.cpp). Then the
// entry's size leads to the frame of enterSpecial, and two of its fields show that it is one: _chunk
// is 0, _flags is 1 and the _argsize behind it 0. Otherwise the row follows the frame pointer, as unwinders do
// without a row. The size and the fields' places are in the code of enterSpecial
// (fill_continuation_entry of sharedRuntime_x86_64.cpp), and differ by version. That both are of one
// VM is shown by the offset of JavaThread::_cont_entry in both: the barrier loads it into rsp.

// A ReturnBarrier has what the code of a dump shows of the return barrier. The zero value is empty.
type ReturnBarrier struct {
	addr  uint64 // 0 if there is none
	load  []byte // its first instruction: mov rsp, [r15+_cont_entry]
	entry jitcode.Marked
}

// Instructions of the barrier and of enterSpecial. The four bytes after the first two are the offset of
// _cont_entry.
var (
	loadRSP   = []byte{0x49, 0x8b, 0xa7}                         // mov rsp, [r15+disp32]
	storeRSP  = []byte{0x49, 0x89, 0xa7}                         // mov [r15+disp32], rsp
	enter     = []byte{0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec} // push rbp; mov rbp, rsp; sub rsp, imm8
	zeroChunk = []byte{0x48, 0xc7, 0x44, 0x24}                   // mov qword [rsp+disp8], imm32
	storeFlag = []byte{0x89, 0x4c, 0x24}                         // mov [rsp+disp8], ecx
	zeroSize  = []byte{0xc7, 0x44, 0x24}                         // mov dword [rsp+disp8], imm32
	zero      = []byte{0, 0, 0, 0}
)

// isReturn is the code of ret.
const isReturn = 0xc3

// Found reports whether the barrier was found: the code is HotSpot's.
func (b *ReturnBarrier) Found() bool { return b.addr != 0 }

// Observe takes in the code of a function, in the order of the dump.
func (b *ReturnBarrier) Observe(addr uint64, code []byte) {
	switch {
	case len(code) < 7:
	case b.addr == 0 && bytes.HasPrefix(code, loadRSP): // the second one is for exceptions
		b.addr, b.load = addr, bytes.Clone(code[:7])
	case b.addr != 0 && b.entry.Offset == 0:
		store := append(bytes.Clone(storeRSP), b.load[3:]...)
		if at := bytes.Index(code, store); at >= 0 {
			if entry, ok := entryIn(code[:at], code[at+len(store):]); ok {
				b.entry = entry
			}
		}
	}
}

// entryIn returns the ContinuationEntry that code makes. before and after are the code around the
// instruction that stores its address.
func entryIn(before, after []byte) (m jitcode.Marked, ok bool) {
	at := bytes.LastIndex(before, enter)
	if at < 0 || at+len(enter) >= len(before) || len(before)-at > 32 {
		return m, false
	}
	size := before[at+len(enter)]
	after = after[:min(len(after), 64)]
	chunk, flags := bytes.Index(after, zeroChunk), bytes.Index(after, storeFlag)
	if size > math.MaxInt8 || chunk < 0 || flags < 0 || chunk+9 > len(after) || !bytes.Equal(after[chunk+5:chunk+9], zero) || flags+4 > len(after) {
		return m, false
	}
	m = jitcode.Marked{Reg: 7, Offset: int64(size) + 16, Zero: int64(after[chunk+4]), One: int64(after[flags+3])}
	argsize := append(append(bytes.Clone(zeroSize), after[flags+3]+4), zero...)
	return m, after[chunk+4] < size && after[flags+3] < size && bytes.Contains(after, argsize)
}

// Rows returns the rows of fn with one for the return barrier, if that follows it.
func (b *ReturnBarrier) Rows(t jitcode.Target, fn *jitcode.Function, rows []jitcode.FrameRow) []jitcode.FrameRow {
	last := len(fn.Code) - 1
	if last < 0 || b.entry.Offset == 0 || elf.Machine(t.Machine) != elf.EM_X86_64 || fn.Addr+fn.Size != b.addr || fn.Code[last] != isReturn {
		return rows
	}
	if n := len(rows); n > 0 && rows[n-1].Known {
		return rows
	}
	return append(rows, jitcode.FrameRow{
		Offset: uint64(last), Known: true, CFA: jitcode.CFA{Reg: 6, Offset: 16, Marked: b.entry},
		Saved: []jitcode.SavedReg{{Reg: 6, Offset: -16}, {Reg: 16, Offset: -8}},
	})
}
