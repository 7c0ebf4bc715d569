package dwarfgen

import "debug/dwarf"

// A form is the encoding of an attribute's value: DW_FORM_* [7.5.6].
type form uint16

const (
	formAddr        form = 0x01
	formData4       form = 0x06
	formData8       form = 0x07
	formString      form = 0x08
	formStrp        form = 0x0e
	formUdata       form = 0x0f
	formRef4        form = 0x13
	formSecOffset   form = 0x17
	formFlagPresent form = 0x19
	formData16      form = 0x1e
	formLineStrp    form = 0x1f

	formSize   form = 0xfff0 // not in DWARF: data4 or data8, by the address size
	formPath   form = 0xfff1 // not in DWARF: line_strp in version 5, string before
	formRanges form = 0xfff2 // not in DWARF: sec_offset, after the ranges are placed
)

// An Attr is an attribute of an entry. The functions below make it, and Unit.Ranges.
type Attr struct {
	name    dwarf.Attr
	form    form
	section sectionID // target section of a sec_offset
	num     uint64
	str     string
}

// Addr returns an address.
func Addr(name dwarf.Attr, v uint64) Attr { return Attr{name: name, form: formAddr, num: v} }

// Size returns a size of code in bytes, for DW_AT_high_pc after DW_AT_low_pc.
func Size(name dwarf.Attr, v uint64) Attr { return Attr{name: name, form: formSize, num: v} }

// Number returns an unsigned number.
func Number(name dwarf.Attr, v uint64) Attr { return Attr{name: name, form: formUdata, num: v} }

// Flag returns a flag that is set.
func Flag(name dwarf.Attr) Attr { return Attr{name: name, form: formFlagPresent} }

// String returns a string that is stored in the entry itself, for strings that occur once. It ends
// before the first NUL.
func String(name dwarf.Attr, s string) Attr {
	return Attr{name: name, form: formString, str: upToNUL(s)}
}

// Shared returns a string that several units are likely to have.
func Shared(name dwarf.Attr, s string) Attr { return Attr{name: name, form: formStrp, str: upToNUL(s)} }

// Path returns the name of a file or directory. In version 5 it shares its storage with the same
// name in the line table.
func Path(name dwarf.Attr, s string) Attr { return Attr{name: name, form: formPath, str: upToNUL(s)} }

// Ref returns a reference to another entry of the same unit, before or after this one.
func Ref(name dwarf.Attr, to EntryID) Attr { return Attr{name: name, form: formRef4, num: uint64(to)} }

// File returns a file of the unit's line table, for DW_AT_decl_file and DW_AT_call_file.
func File(name dwarf.Attr, id FileID) Attr {
	return Attr{name: name, form: formUdata, num: fileNumber(id)}
}

func secOffset(name dwarf.Attr, section sectionID, v int) Attr {
	return Attr{name: name, form: formSecOffset, section: section, num: uint64(v)}
}

// resolve replaces the forms outside of DWARF, and stores strings.
func (a *Attr) resolve(b *Builder) {
	switch a.form {
	case formSize:
		a.form = formData8
		if b.enc.AddrSize == 4 {
			a.form = formData4
		}
	case formPath:
		a.form = formString
		if b.enc.Version >= 5 {
			a.form = formLineStrp
			a.num = uint64(b.lineStr.offset(a.str))
		}
	case formStrp:
		a.num = uint64(b.str.offset(a.str))
	}
}

func (a *Attr) size(enc Encoding) uint32 {
	switch a.form {
	case formAddr:
		return uint32(enc.AddrSize)
	case formData8:
		return 8
	case formData4, formStrp, formLineStrp, formSecOffset, formRef4:
		return 4
	case formString:
		return uint32(len(a.str)) + 1
	case formUdata:
		return ulebSize(a.num)
	}
	return 0 // flag_present
}

// write appends the value to .debug_info.
func (a *Attr) write(b *Builder, u *Unit) {
	w := &b.info
	switch a.form {
	case formAddr:
		w.Word(a.num, b.enc.AddrSize)
	case formData8:
		w.U64(a.num)
	case formData4:
		w.U32(uint32(a.num))
	case formStrp:
		b.refer(info, w, str, uint32(a.num))
	case formLineStrp:
		b.refer(info, w, lineStr, uint32(a.num))
	case formSecOffset:
		b.refer(info, w, a.section, uint32(a.num))
	case formRef4:
		w.U32(u.entries[a.num].offset)
	case formString:
		w.CString(a.str)
	case formUdata:
		w.Uleb(a.num)
	}
}

// upToNUL cuts s at its first NUL: DWARF has no way to write one.
func upToNUL(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] == 0 {
			return s[:i]
		}
	}
	return s
}
