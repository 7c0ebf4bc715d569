package profile

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"sort"
)

// This file divides the text of perf script into samples:
//
//	 123/124     5.000001000:     250000 cpu-clock:ppp:
//		          48d0c9 name+0x169 (/usr/bin/program+0x8d0c9)
//		ffffffff81000130 entry_SYSCALL_64_after_hwframe+0x76 ([kernel.kallsyms])
//
// Without callers, the only frame is in the first line. Names contain all characters, even newlines:
// the text of a line that begins neither a sample nor a frame belongs to the line before.

// A scriptSample is a sample as perf script prints it. It is valid until the next one.
type scriptSample struct {
	pid, tid     uint32
	time, period uint64
	event        []byte
	head         []byte // the frame in the first line; nil if there is none
	frames       [][]byte
}

// A scriptReader reads samples.
type scriptReader struct {
	in         *bufio.Reader
	dialect    dialect
	events     []string // known names, sorted, each once
	unreadable int      // lines that belong to no sample, and frames that are too long

	text  []byte // of the current sample
	ends  []int  // of its lines in text
	ahead []byte // first line of the next sample
	ended bool
	s     scriptSample
}

// newScriptReader returns a reader of samples of events, of which it knows some names.
func newScriptReader(in *bufio.Reader, d dialect, events []string) *scriptReader {
	return &scriptReader{in: in, dialect: d, events: slices.Compact(slices.Sorted(slices.Values(events)))}
}

// maxSample bounds the text of a sample, with all its frames: 1,024 with symbols of 1 KB.
const maxSample = 1 << 20

// next returns the next sample, or io.EOF.
func (r *scriptReader) next() (*scriptSample, error) {
	for !r.ended || r.ahead != nil {
		r.text, r.ends = append(r.text[:0], r.ahead...), r.ends[:0]
		if r.ahead != nil {
			r.ends = append(r.ends, len(r.text))
		}
		r.ahead = nil
		if err := r.collect(); err != nil {
			return nil, err
		}
		if len(r.ends) == 0 {
			continue
		}
		if r.parse() {
			return &r.s, nil
		}
	}
	return nil, io.EOF
}

// collect reads the lines of a sample, and the first one of the next sample.
func (r *scriptReader) collect() error {
	blanks := 0
	for !r.ended {
		line, err := r.line()
		if err == io.EOF {
			r.ended = true
			break
		} else if err != nil {
			return err
		}
		switch {
		case len(line) == 0:
			blanks++
			continue
		case isFrame(line):
			if len(r.ends) == 0 || len(r.text) == maxSample {
				r.unreadable++
				continue
			}
			r.text = append(r.text, line...)
			r.ends = append(r.ends, len(r.text))
		case r.header(line):
			r.ahead = bytes.Clone(line)
			return nil
		case len(r.ends) == 0:
			r.unreadable++
		default: // a name has a newline
			for range blanks + 1 {
				r.text = append(r.text, '\n')
			}
			r.text = append(r.text, line...)
			r.ends[len(r.ends)-1] = len(r.text)
		}
		if len(r.text) > maxSample {
			r.unreadable++
			r.text = r.text[:maxSample]
			r.ends[len(r.ends)-1] = maxSample
		}
		blanks = 0
	}
	return nil
}

// line reads a line without its end. It is cut at maxSample bytes.
func (r *scriptReader) line() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if err == nil {
		return line[:len(line)-1], nil
	}
	if err == io.EOF && len(line) > 0 {
		return line, nil
	}
	if err != bufio.ErrBufferFull {
		return nil, err
	}
	long := bytes.Clone(line)
	for err == bufio.ErrBufferFull {
		line, err = r.in.ReadSlice('\n')
		long = append(long, line[:min(len(line), maxSample-min(len(long), maxSample))]...)
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return bytes.TrimSuffix(long, []byte("\n")), nil
}

// isFrame reports whether a line begins a frame: a tab, spaces, an address in hexadecimal, a space.
func isFrame(line []byte) bool {
	if line[0] != '\t' {
		return false
	}
	addr, rest := cutHex(bytes.TrimLeft(line[1:], " "))
	return addr != nil && len(rest) > 0 && rest[0] == ' '
}

func (r *scriptReader) parse() bool {
	s := &r.s
	if !r.header(r.text[:r.ends[0]]) {
		r.unreadable += len(r.ends)
		return false
	}
	s.frames = s.frames[:0]
	for i, end := range r.ends[1:] {
		s.frames = append(s.frames, bytes.TrimLeft(r.text[r.ends[i]:end], "\t "))
	}
	return true
}

// header reads the first line of a sample into r.s.
func (r *scriptReader) header(line []byte) bool {
	s := &r.s
	rest := bytes.TrimLeft(line, " ")
	var ok bool
	if s.pid, rest, ok = cutID(rest); !ok || len(rest) == 0 || rest[0] != '/' {
		return false
	}
	if s.tid, rest, ok = cutID(rest[1:]); !ok {
		return false
	}
	s.time = 0
	if rest = bytes.TrimLeft(rest, " "); r.dialect.time {
		if s.time, rest, ok = cutTime(rest); !ok {
			return false
		}
	}
	if s.period, rest, ok = cutDecimal(bytes.TrimLeft(rest, " ")); !ok || len(rest) == 0 || rest[0] != ' ' {
		return false
	}
	s.event, s.head = r.cutEvent(bytes.TrimLeft(rest, " "))
	return s.event != nil
}

// cutEvent cuts the name of an event, a colon, and the frame after it, if there is one. Names of events
// contain colons, and those that users choose, spaces.
func (r *scriptReader) cutEvent(text []byte) (event, frame []byte) {
	for n, names := 0, r.events; len(names) > 0 && n < len(text); n++ { // names begin with text[:n]
		if len(names[0]) == n {
			if names = names[1:]; n > 0 && text[n] == ':' {
				if head, ok := headFrame(text[n+1:]); ok {
					event, frame = text[:n], head
				}
			}
		}
		names = names[sort.Search(len(names), func(i int) bool { return names[i][n] >= text[n] }):]
		names = names[:sort.Search(len(names), func(i int) bool { return names[i][n] > text[n] })]
	}
	if event != nil {
		return event, frame
	}
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], ':')
		if n < 0 {
			return nil, nil
		}
		if i += n; i > 0 {
			if frame, ok := headFrame(text[i+1:]); ok {
				return text[:i], frame
			}
		}
	}
}

// headFrame returns the frame in the first line of a sample, after the event. ok is false if there is
// something else.
func headFrame(text []byte) (frame []byte, ok bool) {
	frame = bytes.TrimLeft(text, " ")
	if len(frame) == 0 {
		return nil, true
	}
	addr, rest := cutHex(frame)
	return frame, text[0] == ' ' && addr != nil && len(rest) > 0 && rest[0] == ' '
}
