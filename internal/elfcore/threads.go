package elfcore

import (
	"bytes"
	"debug/elf"
	"strings"

	"github.com/jitinject/jitinject/internal/wire"
)

// A registers says where the register for thread-local storage is in the general-purpose ones of a machine
// [elf_gregset_t], by number. Registers are words of the machine's.
type registers struct {
	word   int // of a register, in bytes
	thread int // -1 if it is in a note of its own, or nowhere
	halves int // s390: the first of two 32-bit registers that are that one; else 0
}

// registersOf returns the layout for the core's machine.
func (c *Core) registersOf() (g registers, ok bool) {
	w := c.word()
	switch c.Machine {
	case elf.EM_X86_64: // in 32-bit cores, those of x32, too
		return registers{word: 8, thread: 21}, true
	case elf.EM_386, elf.EM_AARCH64, elf.EM_ARM: // NT_386_TLS, NT_ARM_TLS
		return registers{word: w, thread: -1}, true
	case elf.EM_PPC64:
		return registers{word: 8, thread: 13}, true
	case elf.EM_PPC:
		return registers{word: 4, thread: 2}, true
	case elf.EM_RISCV:
		return registers{word: w, thread: 4}, true
	case elf.EM_LOONGARCH:
		return registers{word: w, thread: 2}, true
	case elf.EM_S390: // after the PSW and 16 registers, there are 16 access registers of 32 bits
		return registers{word: w, thread: -1, halves: 18 * w}, true
	}
	return g, false
}

// segment386 is the number of the register GS among those of i386: which entry of the
// descriptor table holds the place of thread-local storage.
const segment386 = 10

// status reads NT_PRSTATUS: a signal, words that mask signals, four ids, four times of
// two words each, and the registers.
func (c *Core) status(r *wire.Cursor) {
	word := c.word()
	r.Bytes("pr_info", 16) // with pr_cursig and its padding
	c.uword(r, "pr_sigpend")
	c.uword(r, "pr_sighold")
	t := Thread{TID: int(int32(r.U32("pr_pid")))}
	if r.Err() == nil && t.TID <= 0 {
		r.Bad("pr_pid", "%d is no thread", t.TID)
	}
	r.Bytes("pr_ppid", 12) // pr_pgrp, pr_sid
	r.Bytes("pr_utime", uint64(8*word))
	regs := r.Rest()
	if r.Err() != nil {
		return
	}
	c.selector = 0
	if g, ok := c.registersOf(); ok {
		t.ThreadPointer = c.register(regs, g, g.thread)
		if g.halves > 0 && len(regs) >= g.halves+8 {
			high, low := c.Order.Uint32(regs[g.halves:]), c.Order.Uint32(regs[g.halves+4:])
			t.ThreadPointer = uint64(high)<<32 | uint64(low)
			if word == 4 {
				t.ThreadPointer = uint64(high)
			}
		}
		if c.Machine == elf.EM_386 {
			c.selector = uint32(c.register(regs, g, segment386)) & 0xffff
		}
	}
	c.threads = append(c.threads, t)
}

// register returns a register, or 0 if it is not there.
func (c *Core) register(regs []byte, g registers, number int) uint64 {
	switch end := (number + 1) * g.word; {
	case number < 0 || end > len(regs):
		return 0
	case g.word == 4:
		return uint64(c.Order.Uint32(regs[end-4:]))
	default:
		return c.Order.Uint64(regs[end-8:])
	}
}

// The other notes of a thread stand behind its NT_PRSTATUS.

// tls386 reads NT_386_TLS: descriptors of 16 bytes; the thread's GS selects one.
func (c *Core) tls386(r *wire.Cursor) {
	for c.selector != 0 && len(c.threads) > 0 && r.Len() >= 16 {
		entry, base := r.U32("entry_number"), r.U32("base_addr")
		r.Bytes("limit", 8) // and flags
		if entry == c.selector>>3 {
			c.threads[len(c.threads)-1].ThreadPointer = uint64(base)
		}
	}
}

// tlsARM reads NT_ARM_TLS: the register TPIDR, behind which newer kernels have TPIDR2.
func (c *Core) tlsARM(r *wire.Cursor) {
	var pointer uint64
	switch {
	case c.Machine == elf.EM_AARCH64:
		pointer = r.U64("tpidr")
	case c.Machine == elf.EM_ARM:
		pointer = uint64(r.U32("tpidr"))
	default:
		return
	}
	if len(c.threads) > 0 {
		c.threads[len(c.threads)-1].ThreadPointer = pointer
	}
}

// processInfo reads NT_PRPSINFO.
func (c *Core) processInfo(r *wire.Cursor) {
	data := r.Rest()
	// The size tells them apart: user and group have 16 bits on i386 and ARM.
	var pid int
	switch len(data) {
	case 136:
		pid = 24
	case 128:
		pid = 16
	case 124:
		pid = 12
	default:
		r.Bad("", "%d bytes; the structure has 136, or in 32-bit cores 124 or 128", len(data))
		return
	}
	p := &Process{
		PID:     int(int32(c.Order.Uint32(data[pid:]))),
		PPID:    int(int32(c.Order.Uint32(data[pid+4:]))),
		Command: text(data[pid+16 : pid+32]),
		Args:    strings.TrimRight(text(data[pid+32:pid+112]), " "), // the kernel puts a space at its end
	}
	if p.PID < 0 || p.PPID < 0 {
		r.Bad("pr_pid", "%d and parent %d are no processes", p.PID, p.PPID)
		return
	}
	if c.process == nil {
		c.process = p
	}
}

// text returns a string up to its NUL, if it has one.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
