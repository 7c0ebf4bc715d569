package v8log

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// An escape or a surrogate pair may lie on the border of two parts that are read one after the
// other.
func TestWriteText_AnyBorder(t *testing.T) {
	tail := `\ud83d\ude00\\n\n\x2C\xe4\u20ac\ud83dx\ude00\ud83d` + "\xe9"
	for pad := textChunk - 60; pad <= textChunk; pad++ {
		text := strings.Repeat("a", pad) + tail
		var got bytes.Buffer
		if err := WriteText(&got, strings.NewReader("log,"+text+"\n"), Span{Off: 4, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if want := string(AppendText(nil, []byte(text))); got.String() != want {
			t.Fatalf("%d characters before: got %q; want %q", pad, got.String()[pad:], want[pad:])
		}
	}
}

func TestWriteText_CutEscape(t *testing.T) {
	for cut, want := range map[string]string{`ab\`: "ab", `ab\x2`: "ab", `ab\u20a`: "ab", `\ud83d`: "\ufffd", `\ud83d\u`: "\ufffd", "": ""} {
		var got bytes.Buffer
		if err := WriteText(&got, strings.NewReader(cut), Span{Size: int64(len(cut))}); err != nil || got.String() != want {
			t.Errorf("%q: got %q, %v; want %q", cut, got.String(), err, want)
		}
	}
}

func TestWriteText_ShrunkLog(t *testing.T) {
	err := WriteText(io.Discard, strings.NewReader("short"), Span{Off: 2, Size: 10})
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "offset 0x2") {
		t.Errorf("got %v; want an unexpected end at offset 0x2", err)
	}
}
