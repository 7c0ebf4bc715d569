package verify_test

import (
	"regexp"
	"strings"
	"testing"
)

// words matches what a line may be broken between: runs of text in which code spans, with
// the blanks in them, are whole.
var words = regexp.MustCompile("(?:`[^`]*`|[^ `])+")

// folded breaks the lines of a markdown text that have more than 100 columns. Tables, headings
// and code stay as they are. Further lines of a list's item are indented as the item is.
func folded(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) <= 100 || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "    ") {
			b.WriteString(line + "\n")
			continue
		}
		indent := ""
		if strings.HasPrefix(line, "- ") {
			indent = "  "
		}
		width := 0
		for i, w := range words.FindAllString(line, -1) {
			switch {
			case i == 0:
			case width+1+len(w) > 100:
				b.WriteString("\n" + indent)
				width = len(indent)
			default:
				b.WriteString(" ")
				width++
			}
			b.WriteString(w)
			width += len(w)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestFolded_LongLines(t *testing.T) {
	long := strings.Repeat("word ", 19) + "`a b c` end"
	for _, c := range []struct{ text, want string }{
		{"short\n", "short\n"},
		{"| " + long + "\n", "| " + long + "\n"},
		{long + "\n", strings.Repeat("word ", 18) + "word\n`a b c` end\n"},
		{"- " + long + "\n", "- " + strings.Repeat("word ", 18) + "word\n  `a b c` end\n"},
	} {
		if got := folded(c.text); got != c.want {
			t.Errorf("got %q; want %q", got, c.want)
		}
	}
}
