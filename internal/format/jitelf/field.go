package jitelf

import "encoding/binary"

// addend returns the addend that a field has before its relocation.
func (o *Object) addend(how fix, field []byte) uint64 {
	switch how.action {
	case absolute, relative:
	default:
		return 0 // these add to the field
	}
	switch how.size {
	case 1:
		return uint64(int64(int8(field[0])))
	case 2:
		return uint64(int64(int16(o.order.Uint16(field))))
	case 4:
		return uint64(int64(int32(o.order.Uint32(field))))
	}
	return o.order.Uint64(field)
}

// apply writes the result v of a relocation to a field, which has the bytes for it. It reports
// whether the value fits. Sums, differences and parts of values are modulo the size of the field.
func (f fix) apply(order binary.ByteOrder, field []byte, v uint64) (fits bool) {
	switch f.action {
	case add, subtract:
		if f.action == subtract {
			v = -v
		}
		putField(order, field, f.size, getField(order, field, f.size)+v)
	case setLow6:
		field[0] = field[0]&0xc0 | byte(v)&0x3f
	case addLow6:
		field[0] = field[0]&0xc0 | (field[0]+byte(v))&0x3f
	case subtractLow6:
		field[0] = field[0]&0xc0 | (field[0]-byte(v))&0x3f
	case setULEB, addULEB, subtractULEB:
		return f.applyULEB(field, v)
	default: // absolute, relative, set
		putField(order, field, f.size, v)
		if f.size < 8 && f.action != set {
			bits := 8 * uint(f.size)
			signed := int64(v<<(64-bits)) >> (64 - bits)
			return v>>bits == 0 && f.action == absolute || uint64(signed) == v
		}
	}
	return true
}

// applyULEB sets or changes a ULEB128 number without changing its length.
func (f fix) applyULEB(field []byte, v uint64) (fits bool) {
	n, old := 0, uint64(0)
	for {
		if n == len(field) || n == 10 {
			return false
		}
		old |= uint64(field[n]&0x7f) << (7 * n)
		if n++; field[n-1]&0x80 == 0 {
			break
		}
	}
	switch f.action {
	case addULEB:
		v = old + v
	case subtractULEB:
		v = old - v
	}
	for i := range n {
		field[i] = field[i]&0x80 | byte(v)&0x7f
		v >>= 7
	}
	return true
}

func getField(order binary.ByteOrder, b []byte, size uint8) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order.Uint16(b))
	case 3:
		if order == binary.BigEndian {
			return uint64(b[0])<<16 | uint64(b[1])<<8 | uint64(b[2])
		}
		return uint64(b[2])<<16 | uint64(b[1])<<8 | uint64(b[0])
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

func putField(order binary.ByteOrder, b []byte, size uint8, v uint64) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		order.PutUint16(b, uint16(v))
	case 3:
		if order == binary.BigEndian {
			v = v>>16&0xff | v&0xff00 | v&0xff<<16
		}
		b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16)
	case 4:
		order.PutUint32(b, uint32(v))
	default:
		order.PutUint64(b, v)
	}
}
