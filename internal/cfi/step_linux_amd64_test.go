package cfi

import (
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A tracee is a process that runs instruction by instruction.
type tracee struct {
	t   testing.TB
	pid int
}

func (p *tracee) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// wait waits for the process to stop, and returns why.
func (p *tracee) wait() unix.WaitStatus {
	var status unix.WaitStatus
	_, err := unix.Wait4(p.pid, &status, 0, nil)
	p.must(err)
	if !status.Stopped() {
		p.t.Fatalf("the process ended: %v", status)
	}
	return status
}

func (p *tracee) regs() (r unix.PtraceRegs) {
	p.must(unix.PtraceGetRegs(p.pid, &r))
	return r
}

func (p *tracee) word(at uint64) uint64 {
	var b [8]byte
	_, err := unix.PtracePeekData(p.pid, uintptr(at), b[:])
	p.must(err)
	return binary.LittleEndian.Uint64(b[:])
}

// untilRun lets the toy JIT make its memory executable, and then run up to the
// function at offset of it. It returns the memory's address.
func (p *tracee) untilRun(offset uint64) (base uint64) {
	for entered := true; ; entered = !entered {
		p.must(unix.PtraceSyscall(p.pid, 0))
		p.wait()
		if r := p.regs(); !entered && r.Orig_rax == unix.SYS_MPROTECT && r.Rsi == 1<<20 && r.Rdx&unix.PROT_EXEC != 0 {
			base = r.Rdi
			break
		}
	}
	at := uintptr(base + offset)
	var was [1]byte
	_, err := unix.PtracePeekData(p.pid, at, was[:])
	p.must(err)
	_, err = unix.PtracePokeData(p.pid, at, []byte{0xcc})
	p.must(err)
	p.must(unix.PtraceCont(p.pid, 0))
	p.wait()
	_, err = unix.PtracePokeData(p.pid, at, was[:])
	p.must(err)
	r := p.regs()
	if r.Rip != uint64(at)+1 {
		p.t.Fatalf("stopped at %#x, want %#x", r.Rip, at+1)
	}
	r.Rip--
	p.must(unix.PtraceSetRegs(p.pid, &r))
	return base
}

// numbers returns registers by the numbers that DWARF gives them.
func numbers(r *unix.PtraceRegs) map[uint8]uint64 {
	return map[uint8]uint64{3: r.Rbx, 6: r.Rbp, 7: r.Rsp, 12: r.R12, 13: r.R13, 14: r.R14, 15: r.R15}
}

// A frame is what a shadow stack knows of a call.
type shadow struct {
	cfa, ra uint64
	regs    map[uint8]uint64 // of the caller
}

// rowAt returns the row that holds at an offset.
func rowAt(rows []jitcode.FrameRow, off uint64) (row jitcode.FrameRow) {
	for _, r := range rows {
		if r.Offset <= off {
			row = r
		}
	}
	return row
}

// At every instruction that the toy JIT's code executes, the rows lead to the true
// CFA, return address and registers: a shadow stack knows them, which calls push to
// and returns pop from.
func TestSynthesize_EveryInstructionOfToyJIT(t *testing.T) {
	source := filepath.Join("testdata", "frames.toy")
	abs, err := filepath.Abs(source)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	jit := testrec.ToyJIT(t, dir)

	// Once without being traced: the dump has the code, and where functions lie.
	first := t.TempDir()
	testrec.Run(t, first, jit, "-f", "-n", first, "0", abs)
	codes, names := loads(t, read(t, dumpsBelow(t, first)[0]))
	offsets := addresses(t, read(t, dumpsBelow(t, first)[0]))
	base := slices.Min(offsets)
	for i := range offsets {
		offsets[i] -= base
	}
	rows := make([][]jitcode.FrameRow, len(codes))
	for i, code := range codes {
		var s Synthesizer // results stay
		if r := s.Synthesize(amd64, code, nil); r.Returns && r.Popped == 0 {
			rows[i] = r.Rows
		} else {
			t.Errorf("%s: %+v", names[i], r)
		}
	}

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(jit, "-f", "-n", t.TempDir(), "0", abs)
	cmd.SysProcAttr = &unix.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); errors.Is(err, os.ErrPermission) {
		testrec.Skip(t, "ptrace is not allowed here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	p := &tracee{t, cmd.Process.Pid}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	p.wait()
	base = p.untilRun(offsets[slices.Index(names, "run")])

	var stack []shadow
	right, wrong, executed := 0, 0, map[[2]uint64]bool{}
	perFunction := map[string]int{}
	r := p.regs()
	call := true
	for {
		at := -1
		for i := range offsets {
			if r.Rip >= base+offsets[i] && r.Rip < base+offsets[i]+uint64(len(codes[i])) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		off := r.Rip - base - offsets[at]
		regs := numbers(&r)
		if call {
			stack = append(stack, shadow{r.Rsp + 8, p.word(r.Rsp), regs})
		}
		frame := stack[len(stack)-1]
		row := rowAt(rows[at], off)
		cfa := regs[row.CFA.Reg] + uint64(row.CFA.Offset)
		good := row.Known && cfa == frame.cfa
		caller := maps.Clone(regs)
		caller[7] = cfa
		for _, s := range row.Saved {
			if s.Lost {
				caller[s.Reg] = ^uint64(0)
			} else if good {
				caller[s.Reg] = p.word(cfa + uint64(s.Offset))
			}
		}
		good = good && caller[16] == frame.ra
		for reg, want := range frame.regs {
			good = good && (reg == 7 || caller[reg] == want)
		}
		executed[[2]uint64{uint64(at), off}] = true
		if perFunction[names[at]]++; good {
			right++
		} else if wrong++; wrong < 10 {
			t.Errorf("%s+%d: %+v gives %#x, want %#x; %#x, want %#x", names[at], off, row, cfa, frame.cfa, caller, frame)
		}
		ops, _ := decodeX86(codes[at], int(off), nil)
		last := op{}
		if len(ops) > 0 {
			last = ops[len(ops)-1]
		}
		call = last.kind == opCall
		if last.kind == opReturn {
			stack = stack[:len(stack)-1]
		}
		p.must(unix.PtraceSingleStep(p.pid))
		if s := p.wait().StopSignal(); s != unix.SIGTRAP {
			t.Fatalf("stopped by %v", s)
		}
		r = p.regs()
	}
	if len(stack) != 0 {
		t.Errorf("%d calls did not return", len(stack))
	}
	for _, name := range names {
		if perFunction[name] == 0 {
			t.Errorf("%s was never called", name)
		}
	}
	all, insns := right+wrong, 0
	for _, code := range codes {
		for at := 0; at < len(code); insns++ {
			_, n := decodeX86(code, at, nil)
			at += n
		}
	}
	t.Logf("%d steps, %.2f%% right; %d of %d instructions, in %s", all, 100*float64(right)/float64(all), len(executed), insns, strings.Join(names, ", "))
}

// addresses returns where the functions of a dump lie.
func addresses(t testing.TB, dump []byte) (at []uint64) {
	le := binary.LittleEndian
	for pos := uint64(le.Uint32(dump[8:])); pos+16 <= uint64(len(dump)); pos += uint64(le.Uint32(dump[pos+4:])) {
		if le.Uint32(dump[pos:]) == 0 {
			at = append(at, le.Uint64(dump[pos+32:]))
		}
	}
	return at
}
