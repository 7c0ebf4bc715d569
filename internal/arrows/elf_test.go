package arrows

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unbounded are functions of the standard library that trust their input.
var unbounded = regexp.MustCompile(`\b(elf\.NewFile|elf\.Open|dwarf\.New|buildinfo\.Read(File)?)\(`)

// readers are the packages that call them: the bounded reader, and those that only tests link.
var readers = []string{"internal/format/dwarfdata/", "internal/truth/", "internal/testrec/", "internal/verify/verifytest/"}

// Files that anybody may have written are read by elffile and dwarfdata, which bound memory and time.
func TestELF_OneReader(t *testing.T) {
	eachFile(t, func(path string, text []byte) {
		path = filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, dir := range readers {
			if strings.HasPrefix(path, dir) {
				return
			}
		}
		if call := unbounded.Find(text); call != nil {
			t.Errorf("got %s in %s; want internal/format/elffile", call, path)
		}
	})
}
