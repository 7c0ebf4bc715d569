package testrec

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// SwapDump does for a jitdump what Swap does for a perf.data. Code stays as it
// is: its bytes are those of the machine that it runs on.
func SwapDump(in []byte) ([]byte, error) {
	out := bytes.Clone(in)
	s := &swapper{b: out}
	switch {
	case bytes.HasPrefix(in, []byte("DTiJ")):
		s.from = binary.LittleEndian
	case bytes.HasPrefix(in, []byte("JiTD")):
		s.from = binary.BigEndian
	default:
		return nil, fmt.Errorf("it begins with %q: no jitdump", in[:min(len(in), 4)])
	}
	s.fields("44") // magic, version
	size := s.u32()
	s.fields("44488") // elf_mach, pad, pid, timestamp, flags
	s.bytes(max(0, int(size)-40))
	for len(s.b) >= 16 && s.err == nil {
		id, size := s.u32(), s.u32()
		s.u64() // timestamp
		if int64(size)-16 > int64(len(s.b)) {
			break // the end cuts it
		}
		body := s.sub(int(size) - 16)
		body.dumpRecord(id)
		s.fail(body.err)
	}
	return out, s.err
}

func (s *swapper) dumpRecord(id uint32) {
	switch id {
	case 0: // LOAD: pid, tid, vma, addr, size, index
		s.fields("448888")
	case 1: // MOVE: pid, tid, vma, from, to, size, index
		s.fields("4488888")
	case 2: // DEBUG_INFO: addr, count, {addr, line, discrim, name}
		s.u64()
		n := int(s.u64())
		stride := s.stride(n)
		for ; n > 0 && len(s.b) > 0; n-- {
			entry := s
			if stride != 0 {
				entry = s.sub(stride)
			}
			entry.u64()
			entry.u32s(2)
			if stride == 0 {
				entry.cstring()
			}
		}
	case 4: // UNWINDING_INFO: sizes of the data, of the header in it, of what is mapped
		size, header := s.u64(), s.u64()
		s.u64()
		s.sub(int(size - header)).frames()
		s.sub(int(header)).frameHeader()
	case 827346259: // DEBUG_INFO2: counts and sizes, files, names, lists of numbers
		var n [8]uint32
		for i := range n {
			n[i] = s.u32()
		}
		s.bytes(int(n[1]))
		s.bytes(int(n[3]))
		s.u32s(int(5*n[4] + 5*n[5] + 2*n[6] + 4*n[7]))
	case 827346260: // TIER: tier, color, name
		s.u32s(2)
	case 827346261: // EMBEDDED_SOURCE_FILE: size, name, text
		s.u64()
	}
}

// stride returns the length of n debug entries that are all as long as each
// other, or 0 if they are as long as their names. V8 writes names from memory
// that it has freed, with NULs anywhere; then only the length tells where they
// end.
func (s *swapper) stride(n int) int {
	const head, pad = 16, 8
	rest := s.b
	for range n {
		end := -1
		if len(rest) > head {
			end = bytes.IndexByte(rest[head:], 0)
		}
		if end < 0 {
			rest = nil
			break
		}
		rest = rest[head+end+1:]
	}
	if n == 0 || rest != nil && len(rest) < pad && len(bytes.Trim(rest, "\x00")) == 0 {
		return 0
	}
	return len(s.b) / n
}

// SwapFile does it for whichever of the two it is.
func SwapFile(in []byte) ([]byte, error) {
	if bytes.HasPrefix(in, []byte("DTiJ")) || bytes.HasPrefix(in, []byte("JiTD")) {
		return SwapDump(in)
	}
	return Swap(in)
}
