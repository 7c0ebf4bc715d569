package main

import (
	"fmt"
	"os"
	"strings"
)

// shown is where tables go: to standard output, and into a document that has
// markers for them.
type shown struct {
	file string // or ""
}

// section prints a section, and puts it between its markers in the document, which
// look like this:
//
//	<!-- begin NAME -->
//	<!-- end NAME -->
func (s *shown) section(name, text string) error {
	fmt.Printf("\n%s: %s", name, text)
	if s.file == "" {
		return nil
	}
	doc, err := os.ReadFile(s.file)
	if err != nil {
		return err
	}
	begin, end := fmt.Sprintf("<!-- begin %s -->\n", name), fmt.Sprintf("<!-- end %s -->", name)
	before, rest, ok := strings.Cut(string(doc), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no place for %s, which begins with %s", s.file, name, begin)
	}
	return os.WriteFile(s.file, []byte(before+begin+text+end+after), 0o644)
}
