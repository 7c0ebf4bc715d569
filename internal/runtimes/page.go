package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A page is docs/runtimes/results.md: text, with tables and remarks of this program between
// markers. A marker is <!-- runtimes:NAME --> … <!-- /runtimes:NAME -->.
type page struct{ path, text string }

func openPage(path string) (*page, error) {
	b, err := os.ReadFile(path)
	return &page{path, string(b)}, err
}

func (p *page) save() error { return os.WriteFile(p.path, []byte(p.text), 0o644) }

// section returns the bounds of the text between the markers of a name.
func (p *page) section(name string) (begin, end int, err error) {
	open, shut := "<!-- runtimes:"+name+" -->\n", "<!-- /runtimes:"+name+" -->"
	begin = strings.Index(p.text, open)
	end = strings.Index(p.text, shut)
	if begin < 0 || end < begin {
		return 0, 0, fmt.Errorf("%s has no section %s … %s", p.path, strings.TrimSpace(open), shut)
	}
	return begin + len(open), end, nil
}

// firstCell matches a row and the id in its first cell.
var firstCell = regexp.MustCompile("^\\| `([^`]+)` \\|")

// setRow replaces a runtime's row of a table, or adds it. Rows are sorted by their id's
// place in order, then by name.
func (p *page) setRow(table, id string, cells, order []string) error {
	begin, end, err := p.section(table)
	if err != nil {
		return err
	}
	var head, rows []string
	for line := range strings.Lines(p.text[begin:end]) {
		line = strings.TrimRight(line, "\n")
		switch m := firstCell.FindStringSubmatch(line); {
		case m == nil:
			head = append(head, line)
		case m[1] != id:
			rows = append(rows, line)
		}
	}
	rows = append(rows, fmt.Sprintf("| `%s` | %s |", id, strings.Join(cells, " | ")))
	slices.SortStableFunc(rows, func(a, b string) int {
		return byOrder(firstCell.FindStringSubmatch(a)[1], firstCell.FindStringSubmatch(b)[1], order)
	})
	p.text = p.text[:begin] + strings.Join(append(head, rows...), "\n") + "\n" + p.text[end:]
	return nil
}

// setRemarks replaces the remarks about a runtime: a heading and a list, folded at 100
// columns. Without remarks, it removes both.
func (p *page) setRemarks(id string, remarks, order []string) error {
	begin, end, err := p.section("remarks")
	if err != nil {
		return err
	}
	parts := make(map[string]string)
	for _, part := range strings.Split(p.text[begin:end], "\n### ")[1:] {
		name, _, _ := strings.Cut(part, "\n")
		parts[strings.Trim(name, "`")] = strings.TrimSpace(part)
	}
	delete(parts, id)
	if len(remarks) > 0 {
		var b strings.Builder
		fmt.Fprintf(&b, "`%s`\n\n", id)
		for _, r := range remarks {
			b.WriteString(fold("- "+plain(r), 98) + "\n")
		}
		parts[id] = strings.TrimSpace(b.String())
	}
	var ids []string
	for name := range parts {
		ids = append(ids, name)
	}
	slices.SortFunc(ids, func(a, b string) int { return byOrder(a, b, order) })
	text := "\n"
	for _, name := range ids {
		text += "### " + parts[name] + "\n\n"
	}
	p.text = p.text[:begin] + text + p.text[end:]
	return nil
}

// byOrder compares ids by their places in a list. Others come last, by name.
func byOrder(a, b string, order []string) int {
	i, j := slices.Index(order, a), slices.Index(order, b)
	switch {
	case i >= 0 && j >= 0:
		return i - j
	case i >= 0:
		return -1
	case j >= 0:
		return 1
	}
	return strings.Compare(a, b)
}

// plain quotes text for markdown: symbols contain stars and brackets.
func plain(text string) string {
	return "`" + strings.ReplaceAll(text, "`", "'") + "`"
}

// fold breaks a text at blanks into lines of at most width columns. Further lines are
// indented by two columns.
func fold(text string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
