package export

import "encoding/binary"

// A message is the bytes of a protocol buffer. pprof's own package has a parser and 27 regular
// expressions besides, which every start of the command would compile.
type message []byte

// number appends a field that is a number. 0 is what a field has that is absent.
func (m *message) number(field int, v uint64) {
	if v != 0 {
		*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field)<<3), v)
	}
}

// bytes appends a field that is a message, a string or packed numbers.
func (m *message) bytes(field int, b []byte) {
	*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field)<<3|2), uint64(len(b)))
	*m = append(*m, b...)
}

// numbers appends a field that is a list of numbers.
func (m *message) numbers(field int, list []uint64) {
	var packed []byte
	for _, v := range list {
		packed = binary.AppendUvarint(packed, v)
	}
	m.bytes(field, packed)
}
