package manual

import (
	"regexp"
	"strings"
)

// A Page is a page of the manual.
type Page struct {
	Name     string
	Section  string // of the manual, "1"; empty for a page that is only help
	Brief    string // what it is, in a few words
	Sections []Section
}

// A Section is a part of a page below a heading.
type Section struct {
	Title  string // empty for what comes before the first heading
	Blocks []Block
}

// A Kind says what a block is.
type Kind int

// The kinds of blocks.
const (
	Paragraph  Kind = iota
	Code            // lines that stay as they are
	Item            // of a list
	Subheading      // a heading in a section
	Definition      // a Term, and what it means
)

// A Block is a piece of a section.
type Block struct {
	Kind Kind
	Term string // of a Definition, with marks
	Text string // with marks, and without line breaks but in Code
}

var heading = regexp.MustCompile(`^# ([^\s():]+)(?:\((\d)\))?: +(.+)$`)

// Parse reads a page. A page without its first line gets no name.
func Parse(src string) *Page {
	p := &Page{}
	lines := strings.Split(strings.TrimRight(src, "\n"), "\n")
	if m := heading.FindStringSubmatch(lines[0]); m != nil {
		p.Name, p.Section, p.Brief = m[1], m[2], m[3]
		lines = lines[1:]
	}
	var s Section
	var b *Block // that lines are added to
	end := func() {
		if b != nil {
			b.Text = strings.TrimRight(b.Text, "\n")
			s.Blocks = append(s.Blocks, *b)
			b = nil
		}
	}
	for _, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			end()
			if len(s.Blocks) > 0 || s.Title != "" {
				p.Sections = append(p.Sections, s)
			}
			s = Section{Title: strings.TrimSpace(line[3:])}
		case strings.HasPrefix(line, "### "):
			end()
			s.Blocks = append(s.Blocks, Block{Kind: Subheading, Text: strings.TrimSpace(line[4:])})
		case text == "" && b != nil && b.Kind == Code:
			b.Text += "\n" // it may go on
		case text == "":
			end()
		case strings.HasPrefix(line, "    ") && (b == nil || b.Kind == Code):
			if b == nil {
				b = &Block{Kind: Code}
			}
			b.Text += line[4:] + "\n"
		case strings.HasPrefix(line, "* "):
			end()
			b = &Block{Kind: Item, Text: strings.TrimSpace(line[2:])}
		default:
			if b != nil && b.Kind == Code {
				end()
			}
			if b == nil {
				b = &Block{Kind: Paragraph, Text: text}
			} else {
				b.Text += " " + text
			}
		}
	}
	end()
	if len(s.Blocks) > 0 || s.Title != "" {
		p.Sections = append(p.Sections, s)
	}
	return p
}

// A style says how a piece of text is shown.
type style int

const (
	plain style = iota
	bold        // also `code`
	italic
)

// A span is a piece of text in one style.
type span struct {
	style style
	text  string
}

var marked = regexp.MustCompile("`[^`]+`|\\*\\*[^*]+\\*\\*|\\*[^*\\s][^*]*\\*")

// spans takes text with marks apart.
func spans(text string) (list []span) {
	for text != "" {
		m := marked.FindStringIndex(text)
		if m == nil {
			return append(list, span{plain, text})
		}
		if m[0] > 0 {
			list = append(list, span{plain, text[:m[0]]})
		}
		switch t := text[m[0]:m[1]]; {
		case t[0] == '`':
			list = append(list, span{bold, t[1 : len(t)-1]})
		case strings.HasPrefix(t, "**"):
			list = append(list, span{bold, t[2 : len(t)-2]})
		default:
			list = append(list, span{italic, t[1 : len(t)-1]})
		}
		text = text[m[1]:]
	}
	return list
}

// unmarked is text without its marks.
func unmarked(text string) string {
	var b strings.Builder
	for _, s := range spans(text) {
		b.WriteString(s.text)
	}
	return b.String()
}
