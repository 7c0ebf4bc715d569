package checkproducer

import (
	"hash/maphash"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// A Summary counts what the functions of a dump have.
type Summary struct {
	User   bool // some function has the flag of the user's program
	Tiered bool // some function has a tier
	Closed bool // the dump has a JIT_CODE_CLOSE

	functions int
	bytes     uint64 // of code, of all functions

	unnamed  int
	seed     maphash.Seed
	names    map[uint64]int // functions, by the name's hash
	most     int            // functions with the most frequent name
	mostHash uint64
	mostName string

	withLines, withPlain int    // functions with lines; withPlain have them in a JIT_CODE_DEBUG_INFO
	covered              uint64 // code bytes with a line
	positions, columns   int    // lines, and those with a column other than the first
	files                files

	withCalls  int // functions with inlined calls
	withUnwind int
	unwound    uint64 // code bytes of functions with tables
}

// New returns the summary of a dump without functions.
func New() *Summary {
	return &Summary{seed: maphash.MakeSeed(), names: make(map[uint64]int), files: files{known: make(map[string]bool), embedded: make(map[string]bool)}}
}

// Function adds a function, as the engine reads it. plain says that the dump has a JIT_CODE_DEBUG_INFO with lines
// for it, and unwind that it has a JIT_CODE_UNWINDING_INFO.
func (s *Summary) Function(fn *jitcode.Function, plain, unwind bool) {
	s.functions++
	s.bytes += fn.Size
	s.name(fn.Name)
	if unwind {
		s.withUnwind++
		s.unwound += fn.Size
	}
	if len(fn.Inlines) > 0 {
		s.withCalls++
	}
	has := false
	added := make([]bool, len(fn.Files)) // names may be long: each is examined once
	for i, l := range fn.Lines {
		if l.Line == 0 {
			continue
		}
		has = true
		end := fn.Size
		if i+1 < len(fn.Lines) {
			end = fn.Lines[i+1].Offset
		}
		s.covered += end - l.Offset
		s.positions++
		if l.Column > 1 { // some compilers write the first one everywhere
			s.columns++
		}
		if l.File >= 0 && l.File < len(fn.Files) && !added[l.File] {
			added[l.File] = true
			s.files.add(fn.Files[l.File])
		}
	}
	if has {
		s.withLines++
		if plain {
			s.withPlain++
		}
	}
}

func (s *Summary) name(name []byte) {
	if len(name) == 0 {
		s.unnamed++
		return
	}
	hash := maphash.Bytes(s.seed, name)
	s.names[hash]++
	if n := s.names[hash]; n > s.most {
		if s.mostName == "" || hash != s.mostHash {
			s.mostHash, s.mostName = hash, string(name)
		}
		s.most = n
	}
}
