package showj9

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/jitinject/jitinject/internal/runtime/openj9/metadata"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/jitdump"
)

// A method is what is known of a method besides its pointer.
type method struct {
	name  string // java.lang.String.charAt(I)C
	file  []byte
	lines []jitdump.JavaLine // of growing bytecode indexes
}

// Methods are methods by the pointers of the metadata.
type Methods map[uint64]*method

// name returns a method's name, or "".
func (m Methods) name(method uint64) string {
	if found := m[method]; found != nil {
		return found.name
	}
	return ""
}

// line returns the line of a bytecode, 0 where that is not known. What is in front of all has the first
// one, as in the lines of functions.
func (m Methods) line(method uint64, index int) (file []byte, line uint32) {
	found := m[method]
	if found == nil || len(found.lines) == 0 {
		return nil, 0
	}
	i := sort.Search(len(found.lines), func(i int) bool { return int64(found.lines[i].ByteCodeIndex) > int64(index) })
	return found.file, found.lines[max(i-1, 0)].Line
}

// MethodsOf are those of a record. Of several at one address the first counts.
func MethodsOf(list []jitdump.JavaMethod) Methods {
	byIndex := func(a, b jitdump.JavaLine) int { return cmp.Compare(a.ByteCodeIndex, b.ByteCodeIndex) }
	methods := make(Methods, len(list))
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
		methods[m.Method] = &method{name: metadata.JavaName(m), file: []byte(metadata.JavaFile(m)), lines: lines}
	}
	return methods
}

// NamesOf are those of a record, without anything that is the record's.
func NamesOf(list []jitdump.JavaMethod) Methods {
	methods := MethodsOf(list)
	for _, m := range methods {
		m.file, m.lines = nil, nil
	}
	return methods
}

// ShowMethods shows what is known of methods: their names and lines.
func ShowMethods(v *show.Viewer, methods []jitdump.JavaMethod) {
	w := *v
	w.Add = addMethod
	w.Fields(v.Out, &struct {
		Methods []jitdump.JavaMethod `show:"methods"`
	}{methods}, nil)
}

// addMethod writes flags and lines of a method.
func addMethod(o show.Form, rec any) {
	m, ok := rec.(*jitdump.JavaMethod)
	if !ok {
		return
	}
	o.Words("flags", methodFlags(m.Flags))
	if _, text := o.(*show.TextForm); text {
		o.Array("lines")
		for _, l := range m.Lines {
			o.ElemWord(strconv.FormatUint(uint64(l.ByteCodeIndex), 10) + ":" + strconv.FormatUint(uint64(l.Line), 10))
		}
		o.EndArray()
		return
	}
	o.List("lines")
	for _, l := range m.Lines {
		o.Row()
		o.Num("bytecode_index", uint64(l.ByteCodeIndex))
		o.Num("line", uint64(l.Line))
	}
	o.EndList()
}

func methodFlags(f jitdump.FunctionFlags) []string {
	var names []string
	if f&jitdump.UserFunction != 0 {
		names = append(names, "user")
		f &^= jitdump.UserFunction
	}
	if f != 0 {
		names = append(names, fmt.Sprintf("%#x", uint64(f)))
	}
	return names
}
