package frames

import (
	"debug/elf"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/show"
)

// A Table shows an .eh_frame: its CIEs, its FDEs, and what an unwinder finds at each address
// [LSB Core 10.6; DWARF5 6.4].
type Table struct {
	Out *show.Form
	// Place is that of the table. If its address is unknown, the code that the table is about is
	// somewhere before or behind Label, the table's start.
	Place callframe.Place
	Label string
}

// Header shows an .eh_frame_hdr.
func (t *Table) Header(b []byte) {
	o := t.Out
	o.Row()
	o.Label("entry", []byte("eh_frame_hdr"))
	o.Num("length", uint64(len(b)))
	if len(b) < 4 {
		return
	}
	h := callframe.ReadHeader(t.Place, b, 0)
	o.Num("version", uint64(h.Version))
	o.Hex("eh_frame_ptr_enc", uint64(h.FramesEncoding))
	o.Hex("fde_count_enc", uint64(h.CountEncoding))
	o.Hex("table_enc", uint64(h.TableEncoding))
	if h.Err != nil {
		return
	}
	if h.FramesEncoding&^callframe.FormMask == callframe.Absolute {
		o.Hex("eh_frame_ptr", h.Frames)
	}
	if h.CountEncoding != callframe.Omitted {
		o.Num("fde_count", h.Count)
	}
}

// Show shows all entries up to the first whose size makes no sense.
func (t *Table) Show(b []byte) {
	place := t.Place
	place.All = true
	r := callframe.NewReader(place, b)
	for t.Out.Lost() == nil {
		e, ok := r.Next()
		if !ok {
			break
		}
		switch {
		case e.CIE < 0 || e.Kind == callframe.KindFDE && e.Err != nil:
		case e.Kind == callframe.KindCIE:
			t.cie(&r.CIEs[e.CIE], e.Length)
		case e.Kind == callframe.KindFDE:
			e.Err = t.fde(r, &e)
		}
		if e.Err != nil {
			t.failed(e.Err)
		}
	}
	if err := r.Err(); err != nil {
		t.failed(err)
	}
}

func (t *Table) failed(err error) {
	t.Out.Row()
	t.Out.Label("entry", []byte("error"))
	t.Out.Str("text", []byte(err.Error()))
}

func (t *Table) cie(cie *callframe.CIE, length uint64) {
	o := t.Out
	o.Row()
	o.Label("entry", []byte("CIE"))
	o.Hex("at", uint64(cie.At))
	o.Num("length", length)
	o.Num("version", uint64(cie.Version))
	o.Str("augmentation", cie.Augmentation)
	o.Num("code_align", cie.CodeAlign)
	o.Signed("data_align", cie.DataAlign)
	o.Word("return", t.register(cie.ReturnReg))
}

func (t *Table) fde(r *callframe.Reader, e *callframe.Entry) error {
	o, cie := t.Out, &r.CIEs[e.CIE]
	o.Row()
	o.Label("entry", []byte("FDE"))
	o.Hex("at", uint64(e.At))
	o.Num("length", e.Length)
	o.Hex("cie", uint64(cie.At))
	first := e.Low
	if t.Label != "" && cie.Encoding&callframe.PCRelative != 0 { // to the table
		distance := int64(e.Low)
		if t.Place.AddrSize == 4 {
			distance = int64(int32(e.Low))
		}
		o.Word("pc_begin", fmt.Sprintf("%s%+#x", t.Label, distance))
		first = 0 // rows count from the start of the code
	} else {
		o.Hex("pc_begin", e.Low)
	}
	o.Num("pc_range", e.Size)
	o.List("rows")
	defer o.EndList()
	_, err := r.Rows(cie, e.Instructions, e.InstrAt, e.Size, func(from, _ uint64, row *callframe.Row) string {
		t.row(first+from, row)
		return ""
	})
	return err
}

// row shows how the caller's registers are found: the CFA, and the others as offsets from that or
// in words.
func (t *Table) row(pc uint64, row *callframe.Row) {
	o := t.Out
	o.Row()
	o.At("pc", pc)
	switch {
	case !row.Defined:
		o.Word("CFA", "undefined")
	case row.Computed:
		o.Word("CFA", "expression")
	default:
		o.Word("CFA", fmt.Sprintf("%s%+d", t.register(row.Reg), row.Offset))
	}
	for _, s := range row.Saved {
		o.Word(t.register(s.Reg), t.rule(s.Rule))
	}
}

func (t *Table) rule(r callframe.Rule) string {
	switch r.Kind {
	case callframe.Undefined:
		return "undefined"
	case callframe.SameValue:
		return "same"
	case callframe.AtCFA:
		return fmt.Sprintf("[CFA%+d]", r.Offset)
	case callframe.IsCFA:
		return fmt.Sprintf("CFA%+d", r.Offset)
	case callframe.InRegister:
		return t.register(r.Reg)
	}
	return "expression"
}

var registerNames = map[elf.Machine][]string{
	elf.EM_X86_64: {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"},
	elf.EM_386:    {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"},
}

// register returns the name of a register that DWARF gives a number.
func (t *Table) register(n uint64) string {
	m := t.Place.Machine
	if names := registerNames[m]; n < uint64(len(names)) {
		return names[n]
	}
	switch {
	case m == elf.EM_AARCH64 && n < 31, m == elf.EM_RISCV && n < 32:
		return fmt.Sprintf("x%d", n)
	case m == elf.EM_AARCH64 && n == 31:
		return "sp"
	}
	return fmt.Sprintf("r%d", n)
}
