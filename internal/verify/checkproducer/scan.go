package checkproducer

import (
	"hash/maphash"

	"github.com/jitinject/jitinject/jitdump"
)

// A scan counts what the functions of a dump have.
type scan struct {
	functions int
	bytes     uint64 // of code, of all functions

	unnamed  int
	seed     maphash.Seed
	names    map[uint64]int // functions, by the name's hash
	most     int            // functions with the most frequent name
	mostHash uint64
	mostName string

	withLines, treeOnly int    // functions; treeOnly have lines, but no JIT_CODE_DEBUG_INFO
	covered             uint64 // code bytes with a line
	positions, columns  int    // lines, and those with a column other than 0
	files               files

	withCalls, tiered int  // functions
	user              bool // some function has the flag

	withUnwind int
	unwound    uint64 // code bytes of functions with tables
	closed     bool

	skew    uint64 // bytes to subtract from addresses of plain
	plain   plainTables
	tree    tree // of the next load
	openJ9  map[uint64]bool
	unwinds bool // an unwinding record waits for its load
}

func newScan(skew uint64) *scan {
	return &scan{
		skew: skew, seed: maphash.MakeSeed(), names: make(map[uint64]int), openJ9: make(map[uint64]bool),
		plain: plainTables{byAddr: make(map[uint64][]run)},
		files: files{known: make(map[string]bool), embedded: make(map[string]bool)},
	}
}

// record counts one record. Bodies that cannot be decoded count as absent.
func (s *scan) record(raw *jitdump.Raw) {
	switch raw.ID {
	case jitdump.IDLoad:
		l, err := raw.Load()
		if err != nil {
			s.tree.waits, s.unwinds = false, false
			break
		}
		s.load(&l)
	case jitdump.IDDebugInfo:
		if d, err := raw.DebugInfo(); err == nil {
			s.debugInfo(&d)
		}
	case jitdump.IDDebugInfo2:
		s.tree.waits = false
		if err := raw.DebugInfo2(&s.tree.info); err == nil {
			s.debugInfo2(&s.tree.info)
		}
	case jitdump.IDEmbeddedSource:
		if e, err := raw.EmbeddedSource(); err == nil {
			s.files.embed(e.Name)
		}
	case jitdump.IDUnwinding:
		_, err := raw.Unwinding()
		s.unwinds = err == nil
	case jitdump.IDOpenJ9:
		s.metadata(raw)
	case jitdump.IDClose:
		s.closed = true
	}
}

// load counts a function and the records that described it.
func (s *scan) load(l *jitdump.Load) {
	s.functions++
	s.bytes += l.CodeSize
	s.name(l.Name)
	if s.unwinds {
		s.withUnwind++
		s.unwound += l.CodeSize
		s.unwinds = false
	}
	s.linesOf(l)
}

// name counts a function's name.
func (s *scan) name(name []byte) {
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

// maxMetadata bounds the loads that metadata of OpenJ9 waits for.
const maxMetadata = 1 << 16

// metadata counts a record with OpenJ9's metadata: it gives its function lines and calls.
func (s *scan) metadata(raw *jitdump.Raw) {
	if !raw.IsOpenJ9Metadata() {
		return
	}
	m, err := raw.OpenJ9Metadata()
	if err != nil || len(s.openJ9) >= maxMetadata {
		return
	}
	s.openJ9[m.CodeAddr] = true
	for i := range m.Methods {
		s.user = s.user || m.Methods[i].Flags&jitdump.UserFunction != 0
	}
}
