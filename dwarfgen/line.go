package dwarfgen

import (
	"strings"

	"github.com/jitinject/jitinject/internal/wire"
)

// A LineTable describes a unit's line number information: files and rows.
type LineTable struct {
	// Dir is the compilation directory. Relative file names count from it.
	Dir string

	files []file
	dirs  []string // besides Dir, which is directory 0
	rows  []Row

	fileIDs map[string]FileID // by full name
	dirIDs  map[string]int
}

// A file is one of the table. Its full name stands there in two parts, the
// directory being shared with others.
type file struct {
	name string
	dir  int // 0 is Dir, n the n-1st of dirs
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
	t.dirs = t.dirs[:0]
	t.rows = t.rows[:0]
	clear(t.fileIDs)
	clear(t.dirIDs)
}

// AddFile adds a file and returns its id. The first file is the unit's own.
//
// An absolute name is split at its last slash. Readers join it again; not all of
// them (debug/dwarf of Go) notice when a file name is absolute by itself.
func (t *LineTable) AddFile(name string) FileID {
	name = upToNUL(name)
	if id, ok := t.fileIDs[name]; ok {
		return id
	}
	f := file{name: name}
	if slash := strings.LastIndexByte(name, '/'); slash > 0 && name[0] == '/' && slash+1 < len(name) {
		f.name = name[slash+1:]
		f.dir = t.addDir(name[:slash])
	}
	id := FileID(len(t.files))
	t.files = append(t.files, f)
	if t.fileIDs == nil {
		t.fileIDs = make(map[string]FileID)
	}
	t.fileIDs[name] = id
	return id
}

func (t *LineTable) addDir(dir string) int {
	if id, ok := t.dirIDs[dir]; ok {
		return id
	}
	t.dirs = append(t.dirs, dir)
	if t.dirIDs == nil {
		t.dirIDs = make(map[string]int)
	}
	t.dirIDs[dir] = len(t.dirs)
	return len(t.dirs)
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
	w.Uleb(uint64(len(t.dirs)) + 1)
	w.U32(b.lineStr.offset(t.Dir))
	for _, d := range t.dirs {
		w.U32(b.lineStr.offset(d))
	}
	w.U8(2) // file_name_entry_format_count
	w.Uleb(lnctPath)
	w.Uleb(uint64(formLineStrp))
	w.Uleb(lnctDirectoryIndex)
	w.Uleb(uint64(formUdata))
	w.Uleb(uint64(len(t.files)) + 1)
	for i := -1; i < len(t.files); i++ {
		var f file
		if len(t.files) > 0 {
			f = t.files[max(i, 0)]
		}
		w.U32(b.lineStr.offset(f.name))
		w.Uleb(uint64(f.dir))
	}
}

// filesV4 writes the directory table, in which number 0 is the compilation
// directory and not written, and the file table, which counts from 1.
func filesV4(w *wire.Buffer, t *LineTable) {
	for _, d := range t.dirs {
		w.CString(d)
	}
	w.U8(0)
	for i := range t.files {
		w.CString(t.files[i].name)
		w.Uleb(uint64(t.files[i].dir))
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
