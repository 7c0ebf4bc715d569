package jitelf

import (
	"math"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
	"github.com/jitinject/jitinject/internal/wire"
)

// A lineState has the registers of a line program.
type lineState struct {
	row
	operation uint64
}

// program runs a line program [DWARF5 6.2.5], and adds its sequences.
func (l *lines) program(r *lineReader, table int32, o *Object) {
	c := &r.c
	first := len(l.rows)
	state := lineState{row: row{file: 1, line: 1}}
	for c.Err() == nil && c.Len() > 0 && r.sections.kept >= 0 {
		opcode := c.U8("opcode")
		switch {
		case opcode >= r.opcodeBase:
			n := opcode - r.opcodeBase
			r.advance(&state, uint64(n/r.lineRange))
			state.line += uint32(r.lineBase + int64(n%r.lineRange))
			l.add(r, state.row)
		case opcode == 1: // copy
			l.add(r, state.row)
		case opcode == 0:
			body := c.Bytes("extended opcode", c.Uleb("length"))
			x := wire.NewCursor("DWARF", dwarfdata.Line, body, r.order, c.Offset()-int64(len(body)))
			switch x.U8("extended opcode") {
			case 1: // end_sequence
				l.sequence(o, table, first, state.addr)
				first = len(l.rows)
				state = lineState{row: row{file: 1, line: 1}}
			case 2: // set_address
				state.operation = 0
				switch r.addrSize {
				case 4:
					state.addr = uint64(x.U32("address"))
				case 8:
					state.addr = x.U64("address")
				default:
					x.Fail("address", "of %d bytes is not supported", r.addrSize)
				}
			case 3: // define_file, of DWARF 2 to 4
				t := &l.tables[table]
				name := x.CString("file")
				r.sections.kept -= 32
				t.files = append(t.files, lineFile{name: name, dir: uint32(min(x.Uleb("directory index"), math.MaxUint32))})
			}
			if x.Err() != nil && c.Err() == nil {
				*c = x
			}
		default:
			r.standard(&state, opcode)
		}
	}
	l.rows = l.rows[:first] // a sequence without an end
}

// add adds a row.
func (l *lines) add(r *lineReader, row row) {
	l.rows = append(l.rows, row)
	r.sections.kept -= 32
}

// standard executes a standard opcode [DWARF5 6.2.5.2] that adds no row.
func (r *lineReader) standard(state *lineState, opcode uint8) {
	c := &r.c
	switch opcode {
	case 2: // advance_pc
		r.advance(state, c.Uleb("advance"))
	case 3: // advance_line
		state.line += uint32(c.Sleb("advance"))
	case 4: // set_file
		state.file = uint32(min(c.Uleb("file"), math.MaxUint32))
	case 5: // set_column
		state.column = uint32(min(c.Uleb("column"), math.MaxUint32))
	case 8: // const_add_pc
		r.advance(state, uint64((255-r.opcodeBase)/r.lineRange))
	case 9: // fixed_advance_pc
		state.addr += uint64(c.U16("advance"))
		state.operation = 0
	default:
		for range r.lengths[opcode-1] {
			c.Uleb("operand")
		}
	}
}

// advance adds to the address and the operation in it.
func (r *lineReader) advance(state *lineState, by uint64) {
	by += state.operation
	state.addr += r.minLength * (by / r.maxOperations)
	state.operation = by % r.maxOperations
}
