package dwarfgen

import "github.com/jitinject/jitinject/internal/wire"

// A LineTable describes a unit's line number information: files and rows.
type LineTable struct {
	// Dir is the compilation directory, the base of relative file names; "" if unknown.
	Dir string

	files []file
	dirs  []string // besides Dir, which is directory 0
	rows  []Row

	fileIDs map[string]FileID // by full name
	dirIDs  map[string]int
}

// A Row is the source position of code from Addr on, up to the next row's address.
type Row struct {
	Addr   uint64 // of the code's first byte
	File   FileID // of the same line table
	Line   uint32 // from 1; 0 for code without a line
	Column uint32 // from 1; 0 if unknown

	// End ends a sequence: Addr is the first address after it, and the other fields are not used.
	// Addresses increase within a sequence.
	End bool
}

func (t *LineTable) reset() {
	t.Dir = ""
	t.files = t.files[:0]
	t.dirs = t.dirs[:0]
	t.rows = t.rows[:0]
	clear(t.fileIDs)
	clear(t.dirIDs)
}

// AddRow adds a row. The last one has End.
func (t *LineTable) AddRow(r Row) { t.rows = append(t.rows, r) }

// Standard and extended opcodes [7.22].
const (
	lnsCopy        = 0x01
	lnsAdvancePC   = 0x02
	lnsAdvanceLine = 0x03
	lnsSetFile     = 0x04
	lnsSetColumn   = 0x05
	lnsConstAddPC  = 0x08

	lneEndSequence = 0x01
	lneSetAddress  = 0x02
)

// Ranges of special opcodes [6.2.5.1]: lineRange lines from lineBase on, with address advances up
// to maxSpecialAdvance. GNU as and LLVM use the same values.
const (
	lineBase          = -5
	lineRange         = 14
	opcodeBase        = 13
	maxSpecialAdvance = (255 - opcodeBase) / lineRange
)

// standardOpcodeLengths are the numbers of operands of the standard opcodes.
var standardOpcodeLengths = [opcodeBase - 1]byte{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}

// addLines appends the line program of t to .debug_line [6.2.4].
func (b *Builder) addLines(t *LineTable) {
	w := &b.line
	w.Prefixed32(func() {
		w.U16(uint16(b.enc.Version))
		if b.enc.Version >= 5 {
			w.U8(uint8(b.enc.AddrSize))
			w.U8(0) // segment_selector_size
		}
		w.Prefixed32(func() {
			w.U8(1) // minimum_instruction_length: addresses count bytes on every machine
			w.U8(1) // maximum_operations_per_instruction
			w.U8(1) // default_is_stmt
			base := int8(lineBase)
			w.U8(uint8(base))
			w.U8(lineRange)
			w.U8(opcodeBase)
			w.Bytes(standardOpcodeLengths[:])
			if b.enc.Version >= 5 {
				b.filesV5(t)
			} else {
				filesV4(w, t)
			}
		})
		program(w, b.enc, t.rows)
	})
}

// program writes the opcodes for the rows.
func program(w *wire.Buffer, enc Encoding, rows []Row) {
	start := Row{File: 0, Line: 1} // the registers at the start of a sequence [6.2.2]
	now, inSequence := start, false
	for _, r := range rows {
		if !inSequence {
			w.U8(0)
			w.Uleb(uint64(1 + enc.AddrSize))
			w.U8(lneSetAddress)
			w.Word(r.Addr, enc.AddrSize)
			now, inSequence = start, true
			now.Addr = r.Addr
		}
		if r.End {
			if r.Addr != now.Addr {
				w.U8(lnsAdvancePC)
				w.Uleb(r.Addr - now.Addr)
			}
			w.U8(0)
			w.Uleb(1)
			w.U8(lneEndSequence)
			inSequence = false
			continue
		}
		if r.File != now.File {
			w.U8(lnsSetFile)
			w.Uleb(fileNumber(r.File))
		}
		if r.Column != now.Column {
			w.U8(lnsSetColumn)
			w.Uleb(uint64(r.Column))
		}
		advance(w, r.Addr-now.Addr, int64(r.Line)-int64(now.Line))
		now = r
	}
}

// advance appends a row after advancing the address and the line.
func advance(w *wire.Buffer, addr uint64, line int64) {
	if line < lineBase || line >= lineBase+lineRange {
		w.U8(lnsAdvanceLine)
		w.Sleb(line)
		line = 0
	}
	if addr > maxSpecialAdvance && addr <= 2*maxSpecialAdvance {
		w.U8(lnsConstAddPC)
		addr -= maxSpecialAdvance
	}
	if op := uint64(line-lineBase) + lineRange*addr + opcodeBase; addr <= maxSpecialAdvance && op <= 255 {
		w.U8(uint8(op))
		return
	}
	w.U8(lnsAdvancePC)
	w.Uleb(addr)
	w.U8(uint8(line - lineBase + opcodeBase))
}
