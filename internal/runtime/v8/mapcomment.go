package v8

import (
	"bytes"
	"io"
	"strings"

	"github.com/jitinject/jitinject/internal/format/v8log"
)

// A script names its source map in a comment at its end: //# sourceMappingURL=URL [ECMA-426 11.1].
// Other comments and blank lines may follow, such as //# sourceURL. Elsewhere
// such text is often a string of a program that writes these comments.

const mapMark = "sourceMappingURL="

// Sizes of the part of a text that is searched, in bytes: at first, and at most. URLs of type data
// hold whole maps.
const (
	firstTail  = 4 << 10
	tailGrowth = 16
	maxTail    = 192 << 20
)

// mapComment returns where the URL of a text's source map is in the log, escaped. ok is false if
// the text names none.
func mapComment(src io.ReaderAt, text v8log.Span) (url v8log.Span, ok bool, err error) {
	for size := int64(firstTail); ; size *= tailGrowth {
		n := min(size, text.Size, maxTail)
		begin := text.Off + text.Size - n
		tail, err := v8log.ReadSpan(src, v8log.Span{Off: begin, Size: n}, maxTail, nil)
		if err != nil {
			return v8log.Span{}, false, err
		}
		at, length, more := commentIn(tail, n == text.Size)
		if length > 0 {
			return v8log.Span{Off: begin + int64(at), Size: int64(length)}, true, nil
		}
		if !more || n == text.Size || n == maxTail {
			return v8log.Span{}, false, nil
		}
	}
}

// commentIn looks for the comment at the end of an escaped text. whole says that the text begins
// with tail. more says that an earlier part of it has to be seen.
func commentIn(tail []byte, whole bool) (at, length int, more bool) {
	for end := len(tail); ; {
		begin, next, ok := lastLine(tail[:end])
		if !ok && !whole {
			return 0, 0, true
		}
		line := tail[begin:end]
		if at, length := urlIn(line); length > 0 {
			return begin + at, length, false
		}
		if !ok || !isComment(line) {
			return 0, 0, false
		}
		end = next
	}
}

// lastLine returns where the last line of an escaped text begins, and where the line before it
// ends. ok is false if the text has one line.
func lastLine(text []byte) (begin, before int, ok bool) {
	for end := len(text); ; {
		i := bytes.LastIndex(text[:end], []byte(`\n`))
		if i < 0 {
			return 0, 0, false
		}
		slashes := 0
		for slashes < i && text[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 2, i, true
		}
		end = i // an escaped backslash, and the letter n
	}
}

// blanks are white space as V8 writes it: some is escaped.
var blanks = []string{" ", "\t", `\x09`, `\x0d`, `\x0D`}

// trimBlanks removes white space from both ends of an escaped line, and returns the number of bytes
// before it.
func trimBlanks(line []byte) (trimmed []byte, before int) {
	trimmed = cutBlanks(line, bytes.CutPrefix)
	return cutBlanks(trimmed, bytes.CutSuffix), len(line) - len(trimmed)
}

// cutBlanks removes white space from one end of an escaped line.
func cutBlanks(line []byte, cut func(line, blank []byte) ([]byte, bool)) []byte {
	for i := 0; i < len(blanks); i++ {
		if rest, ok := cut(line, []byte(blanks[i])); ok {
			line, i = rest, -1
		}
	}
	return line
}

// isComment reports whether a line is blank or a comment.
func isComment(line []byte) bool {
	line, _ = trimBlanks(line)
	return len(line) == 0 || bytes.HasPrefix(line, []byte("//"))
}

// urlIn returns where the URL in a line's comment is.
func urlIn(line []byte) (at, length int) {
	i := bytes.LastIndex(line, []byte(mapMark))
	if i < 0 {
		return 0, 0
	}
	before := string(line[max(0, i-4):i])
	if !strings.HasSuffix(before, "//# ") && !strings.HasSuffix(before, "//@ ") && !strings.HasSuffix(before, "/*# ") {
		return 0, 0
	}
	url, skipped := trimBlanks(line[i+len(mapMark):])
	if strings.HasPrefix(before, "/*") {
		url, _ = bytes.CutSuffix(url, []byte("*/"))
		url, _ = trimBlanks(url)
	}
	if bytes.ContainsAny(url, " \t\"'`") {
		return 0, 0 // a string of the program
	}
	return i + len(mapMark) + skipped, len(url)
}
