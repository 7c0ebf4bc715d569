package dwarfgen

import "github.com/jitinject/jitinject/internal/wire"

// A LineTable describes a unit's line number information: files and rows.
type LineTable struct {
	// Dir is the compilation directory. Relative file names count from it.
	Dir string

	files []string
	rows  []Row
}

// A FileID names a file of the line table it was added to.
type FileID int

// A Row says that code from Addr on, up to the next row's, comes from a place
// of the source.
type Row struct {
	Addr   uint64
	File   FileID
	Line   uint32 // from 1; 0 for code that comes from no line
	Column uint32 // from 1; 0 for unknown

	// End ends a sequence: Addr is the first address behind it, the other
	// fields mean nothing. Addresses grow within a sequence.
	End bool
}

func (t *LineTable) reset() {
	t.Dir = ""
	t.files = t.files[:0]
	t.rows = t.rows[:0]
}

// AddFile adds a file and returns its id. The first file is the unit's own.
func (t *LineTable) AddFile(name string) FileID {
	for i, f := range t.files {
		if f == name {
			return FileID(i)
		}
	}
	t.files = append(t.files, upToNUL(name))
	return FileID(len(t.files) - 1)
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

// What a special opcode can say [6.2.5.1]: lines from lineBase on, lineRange of
// them, with addresses that grow by up to maxSpecialAdvance. The same values as
// GNU as and LLVM.
const (
	lineBase          = -5
	lineRange         = 14
	opcodeBase        = 13
	maxSpecialAdvance = (255 - opcodeBase) / lineRange
)

// standardOpcodeLengths says how many operands the standard opcodes have.
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

// Content types of the version 5 file table [7.22].
const (
	lnctPath           = 0x1
	lnctDirectoryIndex = 0x2
)

// filesV5 writes directory and file table. The first file is there twice, as
// number 0 and as number 1, as GNU as does it: readers disagree about where
// version 5 begins to count, and so nobody is wrong.
func (b *Builder) filesV5(t *LineTable) {
	w := &b.line
	w.U8(1) // directory_entry_format_count
	w.Uleb(lnctPath)
	w.Uleb(uint64(formLineStrp))
	w.Uleb(1)
	w.U32(b.lineStr.offset(t.Dir))
	w.U8(2) // file_name_entry_format_count
	w.Uleb(lnctPath)
	w.Uleb(uint64(formLineStrp))
	w.Uleb(lnctDirectoryIndex)
	w.Uleb(uint64(formUdata))
	w.Uleb(uint64(len(t.files)) + 1)
	file := func(name string) {
		w.U32(b.lineStr.offset(name))
		w.Uleb(0)
	}
	if len(t.files) > 0 {
		file(t.files[0])
	} else {
		file("")
	}
	for _, f := range t.files {
		file(f)
	}
}

// filesV4 writes an empty directory table, number 0 being the compilation
// directory, and the file table, which counts from 1.
func filesV4(w *wire.Buffer, t *LineTable) {
	w.U8(0)
	for _, f := range t.files {
		w.CString(f)
		w.Uleb(0) // directory
		w.Uleb(0) // modification time: unknown
		w.Uleb(0) // length: unknown
	}
	w.U8(0)
}

// program writes the opcodes that give the rows.
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
			w.Uleb(uint64(r.File) + 1)
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
