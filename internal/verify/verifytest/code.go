package verifytest

import "bytes"

// PID is the process of files that break a rule, and Base where most of its functions are.
const (
	PID  = 4711
	Base = uint64(0x7f0000001000)
)

// Code returns 32 instructions: push rbp; mov rbp, rsp; nops of one byte, and at 0x10 one of
// five; pop rbp; ret.
func Code() []byte {
	c := bytes.Repeat([]byte{0x90}, 0x30)
	copy(c, []byte{0x55, 0x48, 0x89, 0xe5})
	copy(c[0x10:], []byte{0x0f, 0x1f, 0x44, 0, 0})
	copy(c[0x2e:], []byte{0x5d, 0xc3})
	return c
}
