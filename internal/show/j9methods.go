package show

import (
	"bytes"
	"sort"

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

// line returns the line of a bytecode, 0 where that is not known.
func (m j9Methods) line(method uint64, index int) (file []byte, line uint32) {
	found := m[method]
	if found == nil || index < 0 {
		return nil, 0
	}
	i := sort.Search(len(found.lines), func(i int) bool { return uint64(found.lines[i].ByteCodeIndex) > uint64(index) })
	if i == 0 {
		return nil, 0
	}
	return found.file, found.lines[i-1].Line
}

// j9Name is a method's name as the agent writes it for the code: the class with dots, the
// method with its signature.
func j9Name(class, name, signature []byte) string {
	class = bytes.ReplaceAll(class, []byte("/"), []byte("."))
	if len(class) > 0 {
		class = append(class, '.')
	}
	return string(class) + string(name) + string(signature)
}

// recordMethods are those of a record.
func recordMethods(list []jitdump.JavaMethod) j9Methods {
	methods := make(j9Methods, len(list))
	for i := range list {
		m := &list[i]
		methods[m.Method] = &j9Method{name: j9Name(m.Class, m.Name, m.Signature), file: m.File, lines: m.Lines}
	}
	return methods
}

// methodNames are those of a record, without anything that is the record's.
func methodNames(list []jitdump.JavaMethod) j9Methods {
	methods := make(j9Methods, len(list))
	for i := range list {
		m := &list[i]
		methods[m.Method] = &j9Method{name: j9Name(m.Class, m.Name, m.Signature)}
	}
	return methods
}
