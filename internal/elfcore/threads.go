package elfcore

import (
	"bytes"
	"debug/elf"
	"strings"

	"github.com/jitinject/jitinject/internal/wire"
)

// fsBase is where the base of FS is among the registers of x86-64 [elf_gregset_t], in bytes. It points to a thread's
// local storage, and pthread_self() returns it. Other machines have no such rule here, so their threads have no ids.
const fsBase = 21 * 8

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
	if c.Machine == elf.EM_X86_64 && len(regs) >= fsBase+8 {
		t.ID = c.Order.Uint64(regs[fsBase:])
	}
	c.threads = append(c.threads, t)
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
