package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// written is what a function writes.
func written(write func(j *jsonWriter)) string {
	var out bytes.Buffer
	j := &jsonWriter{Writer: bufio.NewWriter(&out)}
	write(j)
	_ = j.Flush()
	return out.String()
}

// encoding/json reads each string as what it is, or with U+FFFD for what is no UTF-8.
func FuzzQuote(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := written(func(j *jsonWriter) { j.quote(s) })
		var read string
		if err := json.Unmarshal([]byte(quoted), &read); err != nil {
			t.Fatalf("got %q of %q: %v", quoted, s, err)
		}
		if want := string([]rune(s)); read != want || !utf8.ValidString(quoted) || strings.ContainsAny(quoted, "\n\u2028") {
			t.Errorf("got %q; want %q, on one line", read, want)
		}
	})
}
