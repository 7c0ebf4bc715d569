package manual

import (
	"strings"
	"unicode/utf8"
)

// term is the column where what a definition means begins.
const term = 26

// Text renders sections for a terminal of some width, without any control
// characters.
func Text(sections []Section, width int) string {
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		if s.Title != "" {
			b.WriteString(s.Title + "\n")
		}
		for j, block := range s.Blocks {
			if j > 0 && !close(s.Blocks[j-1].Kind, block.Kind) {
				b.WriteByte('\n')
			}
			block.text(&b, width)
		}
	}
	return b.String()
}

// close reports whether there is no empty line between two blocks.
func close(a, b Kind) bool {
	return a == Subheading || a == b && (a == Item || a == Definition)
}

func (block *Block) text(b *strings.Builder, width int) {
	switch block.Kind {
	case Paragraph:
		wrap(b, "  ", "  ", unmarked(block.Text), width)
	case Subheading:
		b.WriteString("  " + unmarked(block.Text) + "\n")
	case Item:
		wrap(b, "  * ", "    ", unmarked(block.Text), width)
	case Code:
		for line := range strings.Lines(block.Text + "\n") {
			b.WriteString(strings.TrimRight("      "+line, " \n") + "\n")
		}
	case Definition:
		indent := strings.Repeat(" ", term)
		first := "  " + unmarked(block.Term)
		if n := utf8.RuneCountInString(first); n+2 > term {
			b.WriteString(first + "\n")
			first = indent
		} else {
			first += indent[n:]
		}
		wrap(b, first, indent, unmarked(block.Text), width)
	}
}

// wrap writes text in lines of some width, the first and the others after an
// indent. A word that is longer than that stays whole.
func wrap(b *strings.Builder, first, indent, text string, width int) {
	at := utf8.RuneCountInString(first)
	b.WriteString(first)
	begin := true
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case begin:
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
		begin = false
	}
	b.WriteByte('\n')
}
