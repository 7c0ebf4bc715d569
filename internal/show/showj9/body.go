package showj9

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/show"
)

// A Body shows OpenJ9's metadata of one compiled body, section by section as it lies
// in memory. Offsets are those of the metadata, which begin with 0 at struct
// J9JITExceptionTable. Fields are called as OpenJ9's structures call them; what no
// structure describes, as its document on the J9JITExceptionTable does.
type Body struct {
	Out      show.Form
	Decoded  *j9meta.Body
	Metadata []byte
	Methods  Methods
	Filter   *show.Filter // of entries; nil shows all

	frames []j9meta.Frame // of the range at hand
	shown  int            // frames
	named  []uint8        // of each site, whether its stack has a name that is wanted; 0: not known yet
	parts  []part         // of the code; nil: not known yet
}

// inlineStacks is what the inlined calls at each part of the code are shown as. They are
// no section, but what inline info and stack maps mean together.
const inlineStacks = "Inline Stacks"

// A Section is a section with what is in it.
type Section struct {
	Name         string
	Offset, Size int64 // in the metadata; -1 for what is in no one place
	fields       func()
	lists        []rowList
}

// A rowList is a list of entries. What JSON calls it is no part of the text.
type rowList struct {
	name string
	rows []func()
}

// chosen reports whether an entry that is about code, offsets from startPC, and about
// methods is wanted.
func (b *Body) chosen(start, end uint64, about func(*show.Filter) bool) bool {
	f := b.Filter
	return f == nil || b.meets(start, end) && (len(f.Names) == 0 || about(f))
}

// picky reports whether not everything is shown.
func (b *Body) picky() bool {
	return b.Filter != nil && (len(b.Filter.Names) > 0 || b.Filter.Address.Set)
}

// Sections are all sections, in the order of the metadata. Of those that have nothing
// that is wanted there are none.
func (b *Body) Sections() (list []Section) {
	for i := range b.Decoded.Sections {
		s := &b.Decoded.Sections[i]
		shown := Section{Name: s.Kind.String(), Offset: int64(s.Offset), Size: int64(s.Size)}
		b.fill(&shown, s)
		list = b.add(list, shown)
	}
	return b.add(list, Section{Name: inlineStacks, Offset: -1, Size: -1, lists: []rowList{b.ranges()}})
}

// add adds a section if it has what is wanted.
func (b *Body) add(list []Section, s Section) []Section {
	if f := b.Filter; f != nil && !f.MatchesType(s.Name) {
		return list
	}
	rows := 0
	for _, l := range s.lists {
		rows += len(l.rows)
	}
	if b.picky() && rows == 0 || s.Offset < 0 && rows == 0 {
		return list
	}
	return append(list, s)
}

// Contents shows what is in a section.
func (b *Body) Contents(s *Section) {
	if s.fields != nil {
		s.fields()
	}
	for _, l := range s.lists {
		b.Out.List(l.name)
		for _, row := range l.rows {
			if b.Out.Lost() != nil {
				break
			}
			b.Out.Row()
			row()
		}
		b.Out.EndList()
	}
}

// bytes are those of a section.
func (b *Body) bytes(s *Section) []byte {
	if s.Offset < 0 || s.Size < 0 || s.Offset > int64(len(b.Metadata))-s.Size {
		return nil
	}
	return b.Metadata[s.Offset : s.Offset+s.Size]
}

// fill says what is in a section.
func (b *Body) fill(shown *Section, s *j9meta.Section) {
	switch s.Kind {
	case j9meta.ExceptionTable:
		shown.fields = b.header
	case j9meta.ExceptionInfo:
		shown.lists = []rowList{b.exceptions()}
	case j9meta.InlineInfo:
		shown.lists = []rowList{b.sites()}
	case j9meta.StackAtlasSection:
		shown.fields = b.atlas
		shown.lists = []rowList{b.stackMaps()}
	case j9meta.StackAllocSection:
		shown.fields = b.stackAlloc
	case j9meta.InternalPointerSection:
		shown.fields = b.internalPointers
	case j9meta.OSRSection:
		shown.fields = b.osr
		shown.lists = b.osrLists()
	case j9meta.GPUSection:
		shown.fields = b.gpu
		shown.lists = []rowList{b.kernels()}
	case j9meta.BytecodeSection:
		shown.fields = b.bytecodeMap
		shown.lists = []rowList{b.bytecodes()}
	case j9meta.InvokeBasicSection:
		shown.fields = b.invokeBasicHead
		shown.lists = []rowList{b.invokeBasic()}
	default:
		shown.fields = func() { b.unaccounted(s.Bytes) }
	}
}

// maxBytesShown is how many bytes of no meaning stand in a line.
const maxBytesShown = 32

// unaccounted shows bytes that belong to no section.
func (b *Body) unaccounted(gap []byte) {
	if len(gap) <= maxBytesShown {
		b.Out.ID("bytes", gap)
	}
}

// spare shows bytes that mean nothing if there is anything in them.
func (b *Body) spare(name string, v []byte) {
	if len(bytes.Trim(v, "\x00")) > 0 {
		b.Out.ID(name, v)
	}
}

// header shows the fixed part: a line for each group of fields, with where that is.
func (b *Body) header() {
	h, o := &b.Decoded.Header, b.Out
	p := uint64(b.Decoded.Layout.PointerSize)
	o.List("fields")
	group := func(offset uint64) {
		_, text := o.(*show.TextForm)
		if text || offset == 0 {
			o.Row()
		}
		if text {
			o.Offset(offset)
		}
	}
	group(0)
	o.Hex("className", h.ClassName)
	o.Hex("methodName", h.MethodName)
	o.Hex("methodSignature", h.MethodSignature)
	o.Hex("constantPool", h.ConstantPool)
	o.Hex("ramMethod", h.RAMMethod)
	b.method(b.siteName(-1))
	group(5 * p)
	o.Hex("startPC", h.StartPC)
	o.Hex("endWarmPC", h.EndWarmPC)
	o.Hex("startColdPC", h.StartColdPC)
	o.Hex("endPC", h.EndPC)
	o.Num("totalFrameSize", h.TotalFrameSize)
	group(10 * p)
	o.Signed("slots", int64(h.Slots))
	o.Signed("scalarTempSlots", int64(h.ScalarTempSlots))
	o.Signed("objectTempSlots", int64(h.ObjectTempSlots))
	o.Num("prologuePushes", uint64(h.ProloguePushes))
	o.Signed("tempOffset", int64(h.TempOffset))
	o.Hex("numExcptionRanges", uint64(h.NumExceptionRanges))
	o.Num("exceptions", uint64(h.ExceptionCount()))
	var bits []string
	if h.WideExceptions() {
		bits = append(bits, "wide")
	}
	if h.ExceptionBytecodes() {
		bits = append(bits, "FSD")
	}
	o.Words("exception_entries", bits)
	o.Signed("size", int64(h.Size))
	group(10*p + 16)
	o.Words("flags", flagNames(h.Flags))
	o.Hex("registerSaveDescription", h.RegisterSaveDescription)
	o.Hex("gcStackAtlas", h.GCStackAtlas)
	o.Hex("inlinedCalls", h.InlinedCalls)
	o.Hex("bodyInfo", h.BodyInfo)
	group(15*p + 16)
	o.Hex("nextMethod", h.NextMethod)
	o.Hex("prevMethod", h.PrevMethod)
	o.Hex("debugSlot1", h.DebugSlot1)
	o.Hex("debugSlot2", h.DebugSlot2)
	o.Hex("osrInfo", h.OSRInfo)
	o.Hex("runtimeAssumptionList", h.RuntimeAssumptionList)
	group(21*p + 16)
	o.Signed("hotness", int64(h.Hotness))
	b.spare("padding", h.HotnessPad[:])
	o.Hex("codeCacheAlloc", h.CodeCacheAlloc)
	o.Hex("gpuCode", h.GPUCode)
	o.Hex("riData", h.RIData)
	if size := uint64(b.Decoded.Layout.HeaderSize); size >= 26*p+16 {
		o.Hex("invokeBasicCallInfo", h.InvokeBasicCallInfo)
		if size >= 27*p+16 {
			o.Hex("constRefArrays", h.ConstRefArrays)
		}
	}
	if len(h.Extra) > 0 {
		o.ID("extra", h.Extra)
	}
	o.EndList()
}

// flagNames are the names of flags.
func flagNames(f j9meta.Flags) []string {
	if f == 0 {
		return nil
	}
	return strings.Split(f.String(), "|")
}

// info shows a TR_ByteCodeInfo.
func (b *Body) info(i j9meta.ByteCodeInfo) {
	b.Out.Signed("callerIndex", int64(i.CallerIndex))
	b.Out.Signed("byteCodeIndex", int64(i.ByteCodeIndex))
	var bits []string
	if i.SameReceiver {
		bits = append(bits, "isSameReceiver")
	}
	if i.DoNotProfile {
		bits = append(bits, "doNotProfile")
	}
	if len(bits) > 0 {
		b.Out.Words("bits", bits)
	}
}

// method shows the name of a method of which something else says which it is. Where there is
// nothing but its pointer, that is enough.
func (b *Body) method(name string) {
	if !strings.HasPrefix(name, "0x") {
		b.Out.Str("method", []byte(name))
	}
}

// siteName is what an index of inlined sites stands for; -1 is the body itself.
func (b *Body) siteName(i int) string {
	switch {
	case i < 0:
		return b.methodName(b.Decoded.Header.RAMMethod, false)
	case i < len(b.Decoded.Sites):
		return b.methodName(b.Decoded.Sites[i].Method, b.Decoded.Layout.Unloaded(b.Decoded.Sites[i].Method))
	}
	return fmt.Sprintf("site %d, which there is not", i)
}

// methodName is a method's name, or else its pointer.
func (b *Body) methodName(method uint64, unloaded bool) string {
	switch name := b.Methods.name(method); {
	case unloaded:
		return "[unloaded]"
	case name != "":
		return name
	}
	return fmt.Sprintf("%#x", method)
}
