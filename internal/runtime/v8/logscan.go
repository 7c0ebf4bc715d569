package v8

import (
	"bytes"
	"hash/maphash"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// Scanning a log as a dump: each piece of code is a function, also without lines.

// codeMemory is what the listing of a function needs, in bytes.
const codeMemory = 256

// bytecodeTier is the mark of Ignition: its code is bytecode, or with --interpreted-frames-native-stack a copy
// of the interpreter's entry.
const bytecodeTier = "~"

// addCode adds code that a line of the log creates. It returns the code's number, or unknown.
func (s *scanner) addCode(c *v8log.CodeCreation) int32 {
	l := s.log
	if l == nil || c.Size == 0 || c.Address < source.MinCode || c.Address >= source.MaxCodeAddr || !s.keep(c.Offset, codeMemory) {
		return unknown
	}
	n := int32(len(l.codes))
	escaped := 0
	if c.IsFunction {
		escaped = max(bytes.LastIndexByte(c.Name, ' '), 0)
	}
	s.prefix = append(append(append(s.prefix[:0], c.Tag...), ':'), c.Tier...)
	prefix, ok := s.prefixes[string(s.prefix)]
	if !ok {
		if s.prefixes == nil {
			s.prefixes = make(map[string]string)
		}
		prefix = string(s.prefix)
		s.prefixes[prefix] = prefix
	}
	l.codes = append(l.codes, code{
		prefix: prefix, name: v8log.Span{Off: c.NameOffset, Size: int64(len(c.Name))}, escaped: int32(escaped), sum: maphash.Bytes(seed, c.Name),
		isolate: int32(s.isolates - 1), object: unknown, bytecode: string(c.Tier) == bytecodeTier, shared: !c.IsFunction, load: int32(len(l.Events)),
	})
	s.time = c.Time * 1000
	l.Events = append(l.Events, jitcode.Event{Kind: jitcode.Load, Function: int(n), Index: uint64(n), Time: s.time, Addr: c.Address, Size: c.Size})
	s.at[c.Address] = n
	return n
}

// moveCode adds the move of code. The line has no time: it is that of the code before it.
func (s *scanner) moveCode(m *v8log.Move) {
	n, ok := s.at[m.From]
	if !ok || s.log == nil || m.From == m.To || !s.keep(m.Offset, codeMemory) {
		return
	}
	l := s.log
	delete(s.at, m.From)
	s.at[m.To] = n
	l.Events = append(l.Events, jitcode.Event{Kind: jitcode.Move, Function: int(n), Index: uint64(n), Time: s.time, Addr: m.To, OldAddr: m.From, Size: l.Events[l.codes[n].load].Size})
}
