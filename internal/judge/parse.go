package judge

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Fields are the fields that Parse understands, for perf script's option -F.
const Fields = "comm,pid,tid,time,event,ip,sym,symoff,dso"

var (
	// header is the first line of a sample: thread, process, time, event, and with
	// perf script -G the only frame.
	header = regexp.MustCompile(`^ *(.*?) *\b(\d+)/(\d+) +(\d+)\.(\d{6}|\d{9}): +(\S.*?): *((?:[0-9a-f]+ .*)?)$`)
	// named is a frame with a symbol and an offset. A symbol may have blanks and
	// parentheses, and so may a file.
	named = regexp.MustCompile(`^(.+)\+0x([0-9a-f]+) \((.*)\)$`)
)

// Parse reads the output of perf script with --ns and the fields of Fields, with or without
// srcline, with call chains or with -G. It fails for a line that belongs to no sample; the
// error has the line's number.
func Parse(r io.Reader) ([]Sample, error) {
	var samples []Sample
	in := bufio.NewReaderSize(r, 1<<16)
	names := make(interned)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			return samples, nil
		}
		if err != nil && err != io.EOF {
			return samples, fmt.Errorf("line %d: %w", n, err)
		}
		line = strings.TrimRight(line, "\r\n")
		if err := parseLine(line, names, &samples); err != nil {
			return samples, fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// parseLine reads one line into the list of samples.
func parseLine(line string, names interned, samples *[]Sample) error {
	text := strings.TrimSpace(line)
	if text == "" {
		return nil
	}
	if line[0] != '\t' {
		if m := header.FindStringSubmatch(line); m != nil {
			s, err := parseHeader(m, names)
			if err != nil {
				return err
			}
			*samples = append(*samples, s)
			return nil
		}
	}
	if len(*samples) == 0 {
		return fmt.Errorf("a frame before the first sample: %q", shorten(text))
	}
	s := &(*samples)[len(*samples)-1]
	if line[0] != '\t' {
		// The line of a frame's source comes after the frame.
		if !strings.HasPrefix(line, "  ") || len(s.Frames) == 0 || s.Frames[len(s.Frames)-1].Line != "" {
			return fmt.Errorf("neither a sample nor a frame: %q", shorten(text))
		}
		s.Frames[len(s.Frames)-1].Line = names.get(text)
		return nil
	}
	f, err := parseFrame(text, names)
	if err != nil {
		return err
	}
	s.Frames = append(s.Frames, f)
	return nil
}

func parseHeader(m []string, names interned) (Sample, error) {
	s := Sample{Comm: names.get(m[1]), Event: names.get(m[6])}
	var err [4]error
	s.PID, err[0] = strconv.Atoi(m[2])
	s.TID, err[1] = strconv.Atoi(m[3])
	var seconds, fraction uint64
	seconds, err[2] = strconv.ParseUint(m[4], 10, 32)
	fraction, err[3] = strconv.ParseUint(m[5], 10, 64)
	for _, err := range err {
		if err != nil {
			return s, err
		}
	}
	if len(m[5]) == 6 {
		fraction *= 1000
	}
	s.Time = seconds*1e9 + fraction
	if m[7] == "" {
		return s, nil
	}
	f, e := parseFrame(strings.TrimSpace(m[7]), names)
	s.Frames = []Frame{f}
	return s, e
}

// parseFrame reads "ADDRESS SYMBOL+OFFSET (FILE)".
func parseFrame(text string, names interned) (f Frame, err error) {
	addr, rest, found := strings.Cut(text, " ")
	if f.Addr, err = strconv.ParseUint(addr, 16, 64); err != nil || !found {
		return f, fmt.Errorf("a frame without an address: %q", shorten(text))
	}
	if dso, ok := strings.CutPrefix(rest, "[unknown] ("); ok && strings.HasSuffix(dso, ")") {
		f.DSO = names.get(strings.TrimSuffix(dso, ")"))
		return f, nil
	}
	if symbol, ok := strings.CutSuffix(rest, " (inlined)"); ok {
		f.Symbol, f.Inlined = names.get(symbol), true
		return f, nil
	}
	if m := named.FindStringSubmatch(rest); m != nil {
		f.Symbol, f.DSO = names.get(m[1]), names.get(m[3])
		f.Offset, err = strconv.ParseUint(m[2], 16, 64)
		return f, err
	}
	// A symbol without an offset: its file is in the last parentheses.
	if at := lastParenthesis(rest); at > 0 {
		f.Symbol, f.DSO = names.get(rest[:at]), names.get(rest[at+2:len(rest)-1])
		return f, nil
	}
	return f, fmt.Errorf("a frame without a file: %q", shorten(text))
}

// lastParenthesis returns the index of " (" of the outermost parentheses at the end of a
// text, or -1.
func lastParenthesis(text string) int {
	depth := 0
	for i := len(text) - 1; i > 0 && strings.HasSuffix(text, ")"); i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 && text[i-1] == ' ' {
				return i - 1
			}
		}
	}
	return -1
}

// interned keeps one copy of each string: most frames repeat.
type interned map[string]string

func (in interned) get(s string) string {
	if kept, ok := in[s]; ok {
		return kept
	}
	kept := strings.Clone(s)
	in[kept] = kept
	return kept
}

// shorten cuts text that an error message quotes.
func shorten(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
