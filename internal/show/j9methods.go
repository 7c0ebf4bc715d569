package show

import (
	"cmp"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/runtime/openj9/metadata"
	"github.com/jitinject/jitinject/jitdump"
)

// A j9Method is what is known of a method besides its pointer.
type j9Method struct {
	name  string // java.lang.String.charAt(I)C
	file  []byte
	lines []jitdump.JavaLine // of growing bytecode indexes
}

// j9Methods are methods by the pointers of the metadata.
type j9Methods map[uint64]*j9Method

// name returns a method's name, or "".
func (m j9Methods) name(method uint64) string {
	if found := m[method]; found != nil {
		return found.name
	}
	return ""
}

// line returns the line of a bytecode, 0 where that is not known. What is in front of all has the first
// one, as in the lines of functions.
func (m j9Methods) line(method uint64, index int) (file []byte, line uint32) {
	found := m[method]
	if found == nil || len(found.lines) == 0 {
		return nil, 0
	}
	i := sort.Search(len(found.lines), func(i int) bool { return int64(found.lines[i].ByteCodeIndex) > int64(index) })
	return found.file, found.lines[max(i-1, 0)].Line
}

// recordMethods are those of a record. Of several at one address the first counts.
func recordMethods(list []jitdump.JavaMethod) j9Methods {
	byIndex := func(a, b jitdump.JavaLine) int { return cmp.Compare(a.ByteCodeIndex, b.ByteCodeIndex) }
	methods := make(j9Methods, len(list))
	for i := range list {
		m := &list[i]
		if methods[m.Method] != nil {
			continue
		}
		lines := m.Lines
		if !slices.IsSortedFunc(lines, byIndex) {
			lines = slices.Clone(lines)
			slices.SortStableFunc(lines, byIndex)
		}
		methods[m.Method] = &j9Method{name: metadata.JavaName(m), file: []byte(metadata.JavaFile(m)), lines: lines}
	}
	return methods
}

// methodNames are those of a record, without anything that is the record's.
func methodNames(list []jitdump.JavaMethod) j9Methods {
	methods := recordMethods(list)
	for _, m := range methods {
		m.file, m.lines = nil, nil
	}
	return methods
}
