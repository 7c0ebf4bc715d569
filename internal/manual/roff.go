package manual

import (
	"fmt"
	"strings"
)

// Roff renders the page for man, in the macros that groff and mandoc know (man(7)).
// date is that of the last change, as 2026-11-22; source is the program's name and
// version.
func (p *Page) Roff(date, source string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %s %s \"%s\" \"%s\"\n", escape(strings.ToUpper(p.Name)), p.Section, date, escape(source), "Manual of jitinject")
	b.WriteString(".nh\n.ad l\n") // names of files and options are not to be broken
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(p.Name), escape(p.Brief))
	for _, s := range p.Sections {
		title := s.Title
		if title == "" {
			title = "DESCRIPTION"
		}
		fmt.Fprintf(&b, ".SH %s\n", quoted(strings.ToUpper(title)))
		for i, block := range s.Blocks {
			block.roff(&b, i == 0 || s.Blocks[i-1].Kind == Subheading, i > 0 && close(s.Blocks[i-1].Kind, block.Kind))
		}
	}
	return b.String()
}

// roff writes a block, which may be the first below a heading, or go on with a list.
func (block *Block) roff(b *strings.Builder, first, tight bool) {
	switch block.Kind {
	case Paragraph:
		if !first {
			b.WriteString(".PP\n")
		}
		b.WriteString(lines(block.Text))
	case Subheading:
		fmt.Fprintf(b, ".SS %s\n", quoted(unmarked(block.Text)))
	case Item:
		if tight {
			b.WriteString(".PD 0\n")
		}
		b.WriteString(".IP \\(bu 2\n" + lines(block.Text))
		if tight {
			b.WriteString(".PD\n")
		}
	case Definition:
		b.WriteString(".TP\n" + line(block.Term) + lines(block.Text))
	case Code:
		if !first {
			b.WriteString(".PP\n")
		}
		b.WriteString(".RS 4\n.nf\n")
		for l := range strings.Lines(block.Text + "\n") {
			if l = strings.TrimRight(l, " \n"); l == "" {
				b.WriteString(".sp\n")
				continue
			}
			b.WriteString(shield(escape(l)) + "\n")
		}
		b.WriteString(".fi\n.RE\n")
	}
}

func line(text string) string { return shield(marks(text)) + "\n" }

func marks(text string) string {
	var b strings.Builder
	for _, s := range spans(strings.TrimSpace(text)) {
		switch s.style {
		case bold:
			b.WriteString(`\fB` + escape(s.text) + `\fR`)
		case italic:
			b.WriteString(`\fI` + escape(s.text) + `\fR`)
		default:
			b.WriteString(escape(s.text))
		}
	}
	return b.String()
}

// lines is text with marks in lines that people can read and compare.
func lines(text string) string {
	const width = 76
	var b strings.Builder
	now := ""
	for word := range strings.FieldsSeq(marks(text)) {
		if now != "" && len(now)+1+len(word) > width {
			b.WriteString(shield(now) + "\n")
			now = ""
		}
		if now != "" {
			now += " "
		}
		now += word
	}
	b.WriteString(shield(now) + "\n")
	return b.String()
}

// shield keeps a line of text from being taken for a request.
func shield(text string) string {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") || strings.HasPrefix(text, `\(aq`) {
		return `\&` + text
	}
	return text
}

func quoted(text string) string { return `"` + escape(text) + `"` }

// escape writes the characters that roff, or a printer of Unix's youth, takes for
// others. See groff_char(7).
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch r {
		case '\\':
			b.WriteString(`\(rs`)
		case '-':
			b.WriteString(`\-`)
		case '\'':
			b.WriteString(`\(aq`)
		case '`':
			b.WriteString(`\(ga`)
		case '^':
			b.WriteString(`\(ha`)
		case '~':
			b.WriteString(`\(ti`)
		case '"':
			b.WriteString(`\(dq`)
		default:
			if r < 0x80 {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, `\[u%04X]`, r)
			}
		}
	}
	return b.String()
}
