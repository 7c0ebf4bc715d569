package v8

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/runtime/v8/stays"
	"github.com/jitinject/jitinject/internal/source"
)

// Scanning a log as a dump: each piece of code is a function, also without lines.

// codeMemory is what the listing of a function needs, in bytes.
const codeMemory = 256

// bytecodeTier is the mark of Ignition: its code is bytecode, or with --interpreted-frames-native-stack a copy
// of the interpreter's entry.
const bytecodeTier = "~"

// maxTime bounds a time of a log, in microseconds: ten years.
const maxTime = 10 * 366 * 24 * 3600e6

// maxBack is how far the time may go back from a line to the next, in nanoseconds: threads write some lines.
const maxBack = 10e6

// addCode adds code that a line of the log creates. It returns the code's number, or unknown.
func (s *scanner) addCode(c *v8log.CodeCreation) int32 {
	l := s.log
	if l == nil {
		return unknown
	}
	if c.Time > maxTime {
		s.addDamage(fmt.Errorf("%s: code-creation at offset %#x: time: %d µs", v8log.FormatName, c.Offset, c.Time))
		return unknown
	}
	time := c.Time * 1000
	switch {
	case time+maxBack >= s.time:
	case !s.jumped && time+maxBack >= s.before:
		s.dropLast(c.Offset)
	default:
		s.addDamage(fmt.Errorf("%s: code-creation at offset %#x: time: it goes back: several isolates share the file", v8log.FormatName, c.Offset))
		l.shared = true
	}
	isLatest := time >= s.time
	if isLatest {
		s.before, s.time, s.latest = s.time, time, unknown
	}
	l.code.Ends[s.isolates-1] = s.time
	for ; s.timed < len(l.code.Stays); s.timed++ {
		l.code.Stays[s.timed].To = min(l.code.Stays[s.timed].To, s.time)
	}
	if c.Size == 0 || c.Address < source.MinCode || c.Address >= source.MaxCodeAddr || !s.keep(c.Offset, codeMemory) {
		return unknown
	}
	n := int32(len(l.codes))
	s.prefix = append(append(append(s.prefix[:0], c.Tag...), ':'), c.Tier...)
	prefix, ok := s.prefixes[string(s.prefix)]
	if !ok {
		if s.prefixes == nil {
			s.prefixes = make(map[string]string)
		}
		prefix = string(s.prefix)
		s.prefixes[prefix] = prefix
	}
	escaped, before := 0, len(s.prefix)
	if c.IsFunction {
		escaped = max(bytes.LastIndexByte(c.Name, ' '), 0)
	}
	s.prefix = append(s.prefix, c.Name...)
	l.codes = append(l.codes, code{
		prefix: prefix, name: v8log.Span{Off: c.NameOffset, Size: int64(len(c.Name))}, escaped: int32(escaped), sum: maphash.Bytes(seed, c.Name), object: unknown,
	})
	l.code.Codes = append(l.code.Codes, stays.Code{
		Key: logKey(s.prefix, before+escaped), Isolate: int32(s.isolates - 1), First: int32(len(l.code.Stays)),
		Bytecode: string(c.Tier) == bytecodeTier, Prompt: c.IsFunction || string(c.Tag) == regExp,
	})
	if strings.HasPrefix(prefix, regExp) {
		l.code.Codes[n].Key, l.code.Codes[n].Lines = dumpKey(s.prefix), l.code.Codes[n].Key
	}
	if isLatest {
		s.latest = n
	}
	l.code.Stays = append(l.code.Stays, stays.Stay{Code: n, Addr: c.Address, Size: c.Size, From: time, To: time})
	s.at[c.Address] = n
	return n
}

// dropLast leaves out the code with the latest time. One line with a time that no other reaches is damaged; of
// isolates that share a file, many are.
func (s *scanner) dropLast(offset int64) {
	s.addDamage(fmt.Errorf("%s: before offset %#x: code-creation: time: %d ns, which is after that of the next line, or after the process", v8log.FormatName, offset, s.time))
	s.jumped, s.time = true, s.before
	s.log.code.Ends[s.isolates-1] = s.time
	if s.latest == unknown {
		return
	}
	c := &s.log.code.Codes[s.latest]
	for i := c.First; int(i) < len(s.log.code.Stays); i++ { // others have moved since
		stay := &s.log.code.Stays[i]
		if stay.From = min(stay.From, s.time); i == c.First {
			delete(s.at, stay.Addr)
			stay.Addr, c.Bytecode = 0, true // no memory holds it
		}
	}
}

// moveCode adds the move of code. It happened between the lines with times before and after it.
func (s *scanner) moveCode(m *v8log.Move) {
	n, ok := s.at[m.From]
	if !ok || s.log == nil || m.From == m.To || m.To >= source.MaxCodeAddr || !s.keep(m.Offset, codeMemory) {
		return
	}
	l := s.log
	delete(s.at, m.From)
	s.at[m.To] = n
	size := l.code.Stays[l.code.Codes[n].First].Size
	l.code.Stays = append(l.code.Stays, stays.Stay{Code: n, Addr: m.To, Size: size, From: s.time, To: stays.Never})
}
