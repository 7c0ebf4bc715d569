package checkproducer

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/verify"
)

// files are the source files that lines refer to, and those that the dump embeds.
type files struct {
	known    map[string]bool
	names    []string // known, in order of appearance
	embedded map[string]bool
}

// maxFiles bounds the names that are kept. Further names are ignored.
const maxFiles = 1 << 16

// add notes a file. Names that are empty or no text are ignored: the ordinary check reports them.
func (f *files) add(name string) {
	if name == "" || !verify.IsText([]byte(name)) || f.known[name] || len(f.names) >= maxFiles {
		return
	}
	f.known[name] = true
	f.names = append(f.names, name)
}

// Embed notes that the dump has the text of a file.
func (s *Summary) Embed(name []byte) {
	if len(s.files.embedded) < maxFiles {
		s.files.embedded[string(name)] = true
	}
}

// scheme matches the start of a URL, and of names such as node:fs.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`)

// isRelative reports whether a name is a path that needs a directory. URLs are not, nor are names of
// no file such as <eval>.
func isRelative(name string) bool {
	return !filepath.IsAbs(name) && !strings.HasPrefix(name, "<") && !strings.HasPrefix(name, "[") && !scheme.MatchString(name)
}

// isHere reports whether this machine has a file of that name.
func isHere(name string) bool {
	st, err := sys.Stat(strings.TrimPrefix(name, "file://"))
	return err == nil && st.Mode().IsRegular()
}

func (s *Summary) reportFiles(r *verify.Reporter) {
	var relative, absent []string
	for _, name := range s.files.names {
		if s.files.embedded[name] {
			continue // readers find it by its name in the dump
		}
		if isRelative(name) {
			relative = append(relative, name)
		}
		if !isHere(name) {
			absent = append(absent, name)
		}
	}
	n, all := len(s.files.names), verify.Counted(len(s.files.names), "file")
	if len(relative) > 0 {
		r.Violation("producer/file-names", -1, "absolute names: %d of %s, not %s", n-len(relative), all, verify.Quoted(relative[0]))
	}
	if len(absent) > 0 {
		r.Violation("producer/sources", -1, "sources on this disk or in the dump: %d of %s, not %s", n-len(absent), all, verify.Quoted(absent[0]))
	}
}
