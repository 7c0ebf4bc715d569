package manual

import (
	"strings"
	"testing"
)

const page = "# prog(1): do a thing\n\nBefore `any` *heading*,\nin **two** lines.\n\n## FIRST PART\n\n* an item\n  that goes on\n* another\n\n" +
	"    code -x\n\n      'more' ~ of ^it\n\n.dot and \\slash\n\n### Below\n\nlast\n"

func TestParsePage_EveryElement(t *testing.T) {
	p := Parse(page)
	if p.Name != "prog" || p.Section != "1" || p.Brief != "do a thing" || len(p.Sections) != 2 {
		t.Fatalf(`got %+v; want Name = "prog", Section = "1", Brief = "do a thing", 2 sections`, p)
	}
	want := []Block{
		{Kind: Item, Text: "an item that goes on"}, {Kind: Item, Text: "another"},
		{Kind: Code, Text: "code -x\n\n  'more' ~ of ^it"},
		{Text: `.dot and \slash`}, {Kind: Subheading, Text: "Below"}, {Text: "last"},
	}
	got := p.Sections[1].Blocks
	if p.Sections[1].Title != "FIRST PART" || len(got) != len(want) {
		t.Fatalf(`got %+v; want title "FIRST PART", %d blocks`, p.Sections[1], len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("block %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestParsePage_WithoutName(t *testing.T) {
	for _, src := range []string{"", "text", "## ONLY\n", "# no brief\n"} {
		if p := Parse(src); p.Name != "" {
			t.Errorf("%q has the name %q", src, p.Name)
		}
	}
	if p := Parse("# topic: what it is\ntext"); p.Name != "topic" || p.Section != "" || p.Brief != "what it is" {
		t.Errorf(`got %+v; want Name = "topic", Section = "", Brief = "what it is"`, p)
	}
}

func TestText_OfPage(t *testing.T) {
	const want = `  Before any heading, in two
  lines.

FIRST PART
  * an item that goes on
  * another

      code -x

        'more' ~ of ^it

  .dot and \slash

  Below
  last
`
	if got := Text(Parse(page).Sections, 30); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestRoff_OfPage(t *testing.T) {
	const want = `.TH PROG 1 2026-01-02 "prog 1\-x" "Manual of jitinject"
.nh
.ad l
.SH NAME
prog \- do a thing
.SH "DESCRIPTION"
Before \fBany\fR \fIheading\fR, in \fBtwo\fR lines.
.SH "FIRST PART"
.IP \(bu 2
an item that goes on
.PD 0
.IP \(bu 2
another
.PD
.PP
.RS 4
.nf
code \-x
.sp
  \(aqmore\(aq \(ti of \(hait
.fi
.RE
.PP
\&.dot and \(rsslash
.SS "Below"
last
`
	if got := Parse(page).Roff("2026-01-02", "prog 1-x"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(Parse("# x(1): y\n\n"+strings.Repeat("'word' .dot ", 50)).Roff("", "")) {
		if len(line) > 80 || line[0] == '\'' || line[0] == '.' && strings.Contains(line, "word") {
			t.Errorf("line %q", line)
		}
	}
}
