package messages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the directory of go.mod.
const root = "../.."

// TestList_IsPrinted prints the list with -v.
func TestList_IsPrinted(t *testing.T) {
	dirs, err := linked(root, "github.com/jitinject/jitinject", "cmd/jitinject")
	if err != nil {
		t.Fatal(err)
	}
	text, err := listOf(root, dirs)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text, "\n    "); n < 1000 {
		t.Errorf("got %d texts; want those of the whole program", n)
	}
	if testing.Verbose() {
		fmt.Print(text)
	}
}

func TestTexts_OfAllForms(t *testing.T) {
	dir := t.TempDir()
	source := `package p
import "not a text"
type s struct { A int ` + "`not:\"a text\"`" + ` }
const c = "a constant " + "in two parts"
var table = map[string]string{"key": "text in a table"}
func f(v string) error {
	g("one", "word-like", "%d", "PERFILE2")
	g("the file " + v + " is short: " + h("inner text here"))
	return e(` + "`raw text`" + `)
}
`
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p_test.go"), []byte("package p\nvar x = \"text of tests\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := textsOf(dir)
	want := []string{"a constant in two parts", "inner text here", "raw text", "text in a table", "the file … is short: …"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// quoted matches what a page quotes with two words or more that may be a message, and option what
// stands in it for a field of inject.Options.
var (
	quoted  = regexp.MustCompile("`([A-Za-z]?[a-z]+ [a-z]+[^`]*)`")
	fences  = regexp.MustCompile("(?s)```.*?```|<!--.*?-->")
	option  = regexp.MustCompile(` --?[a-z-]+( [A-Z=]+)?`)
	command = regexp.MustCompile(`^(sudo )?(jitinject|perf|node|apt|echo|systemctl|docker|cat|ulimit) `)
)

// The messages that the page about troubles quotes are those of the program.
func TestTroubleshooting_QuotesMessages(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := linked(root, "github.com/jitinject/jitinject", "cmd/jitinject")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, dir := range dirs {
		more, err := textsOf(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, more...)
	}
	checked := 0
	for _, m := range quoted.FindAllStringSubmatch(fences.ReplaceAllString(string(page), ""), -1) {
		message := strings.ReplaceAll(m[1], "\n", " ")
		if command.MatchString(message) || message == "permission denied" { // the last is the system's
			continue
		}
		checked++
		parts := option.Split(message, -1)
		if !slices.ContainsFunc(texts, func(text string) bool { return hasInOrder(text, parts) }) {
			t.Errorf("docs/troubleshooting.md quotes %q, which the program does not print", message)
		}
	}
	if checked < 40 {
		t.Errorf("got %d messages; want those of the whole page", checked)
	}
}

// hasInOrder reports whether a text has all parts, one after the other.
func hasInOrder(text string, parts []string) bool {
	for _, part := range parts {
		_, rest, ok := strings.Cut(text, part)
		if !ok {
			return false
		}
		text = rest
	}
	return true
}
