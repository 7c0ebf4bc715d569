package checkproducer

import (
	"debug/elf"
	_ "embed"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/words"
)

// Write reports what the dump lacks, as notes. It sets Complete of r's result if nothing is missing. A dump
// without functions gets no notes.
func (s *Summary) Write(r *verify.Reporter, machine elf.Machine) {
	if s.functions == 0 {
		return
	}
	before := r.Result.Notes
	s.reportNames(r)
	s.reportLines(r)
	s.reportFiles(r)
	s.reportTree(r)
	s.reportUnwinding(r, machine)
	if !s.Closed {
		r.Violation("producer/close", -1, "JIT_CODE_CLOSE: missing")
	}
	r.Result.Complete = r.Result.Notes == before
}

// enough is the share of the code bytes, in percent, from which on lines and unwind tables count as
// present: some code, such as stubs, has none.
const enough = 90

// percent returns part in percent of whole, rounded down.
func percent(part, whole uint64) uint64 {
	if whole == 0 {
		return 100
	}
	return part * 100 / whole
}

func (s *Summary) reportNames(r *verify.Reporter) {
	if s.unnamed > 0 {
		r.Violation("producer/names", -1, "names: %d of %s", s.functions-s.unnamed, s.counted())
	}
	if s.functions > 3 && s.most > s.functions/2 {
		r.Violation("producer/names", -1, "names: %s for %d of %s", verify.Quoted(s.mostName), s.most, s.counted())
	}
}

func (s *Summary) reportLines(r *verify.Reporter) {
	if share := percent(s.covered, s.bytes); share < enough {
		r.Violation("producer/lines", -1, "lines: %d of %s, %d%% of the code bytes", s.withLines, s.counted(), share)
	}
	if s.withPlain < s.withLines {
		r.Violation("producer/plain-lines", -1, "lines for perf inject: %d of %s with lines", s.withPlain, words.Count(int64(s.withLines), "function"))
	}
	if s.positions > 0 && s.columns == 0 {
		r.Violation("producer/columns", -1, "columns: 0 of %s", words.Count(int64(s.positions), "source position"))
	}
}

// reportTree reports what only DEBUG_INFO2 can have.
func (s *Summary) reportTree(r *verify.Reporter) {
	if s.withCalls == 0 {
		r.Violation("producer/calls", -1, "inlined calls: 0 of %s", s.counted())
	}
	if !s.User {
		r.Violation("producer/user", -1, "flag of the user's program: 0 of %s", s.counted())
	}
	if !s.Tiered {
		r.Violation("producer/tiers", -1, "tiers: 0 of %s", s.counted())
	}
}

func (s *Summary) reportUnwinding(r *verify.Reporter, machine elf.Machine) {
	share := percent(s.unwound, s.bytes)
	if share >= enough {
		return
	}
	derived := "jitinject derives none for this machine"
	if machine == elf.EM_X86_64 || machine == elf.EM_AARCH64 {
		derived = "only jitinject derives them from the code"
	}
	r.Violation("producer/unwind", -1, "unwind tables: %d of %s, %d%% of the code bytes; %s", s.withUnwind, s.counted(), share, derived)
}

func (s *Summary) counted() string { return words.Count(int64(s.functions), "function") }

//go:embed rules.txt
var texts string

// Rules are the capabilities that a dump should have. Each advice has the function of jitdump.h that
// writes the capability, and the section of docs/producers.md that explains it.
var Rules = verify.ReadRules(texts)

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
	n, all := len(s.files.names), words.Count(int64(len(s.files.names)), "file")
	if len(relative) > 0 {
		r.Violation("producer/file-names", -1, "absolute names: %d of %s, not %s", n-len(relative), all, verify.Quoted(relative[0]))
	}
	if len(absent) > 0 {
		r.Violation("producer/sources", -1, "sources on this disk or in the dump: %d of %s, not %s", n-len(absent), all, verify.Quoted(absent[0]))
	}
}
