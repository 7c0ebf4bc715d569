package show

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// A j9Body shows OpenJ9's metadata of one compiled body, section by section as it lies
// in memory. Offsets are those of the metadata, which begin with 0 at struct
// J9JITExceptionTable. Fields are called as OpenJ9's structures call them; what no
// structure describes, as its document on the J9JITExceptionTable does.
type j9Body struct {
	out     form
	body    *j9meta.Body
	blob    []byte
	methods j9Methods
	filter  *Filter // of entries; nil shows all

	frames []j9meta.Frame // of the range at hand
	shown  int            // frames
	named  []uint8        // of each site, whether its stack has a name that is wanted; 0: not known yet
	parts  []j9Part       // of the code; nil: not known yet
}

// j9InlineStacks is what the inlined calls at each part of the code are shown as. They are
// no section, but what inline info and stack maps mean together.
const j9InlineStacks = "Inline Stacks"

// A j9Section is a section with what is in it.
type j9Section struct {
	name         string
	offset, size int64 // in the metadata; -1 for what is in no one place
	fields       func()
	lists        []j9List
}

// A j9List is a list of entries. What JSON calls it is no part of the text.
type j9List struct {
	name string
	rows []func()
}

// chosen reports whether an entry that is about code, offsets from startPC, and about
// methods is wanted.
func (b *j9Body) chosen(start, end uint64, about func(*Filter) bool) bool {
	f := b.filter
	return f == nil || b.touches(start, end) && (len(f.Names) == 0 || about(f))
}

// picky reports whether not everything is shown.
func (b *j9Body) picky() bool {
	return b.filter != nil && (len(b.filter.Names) > 0 || b.filter.Address.Set)
}

// sections are all sections, in the order of the metadata. Of those that have nothing
// that is wanted there are none.
func (b *j9Body) sections() (list []j9Section) {
	for i := range b.body.Sections {
		s := &b.body.Sections[i]
		shown := j9Section{name: s.Kind.String(), offset: int64(s.Offset), size: int64(s.Size)}
		b.fill(&shown, s)
		list = b.add(list, shown)
	}
	return b.add(list, j9Section{name: j9InlineStacks, offset: -1, size: -1, lists: []j9List{b.ranges()}})
}

// add adds a section if it has what is wanted.
func (b *j9Body) add(list []j9Section, s j9Section) []j9Section {
	if f := b.filter; f != nil && !f.typed(s.name) {
		return list
	}
	rows := 0
	for _, l := range s.lists {
		rows += len(l.rows)
	}
	if b.picky() && rows == 0 || s.offset < 0 && rows == 0 {
		return list
	}
	return append(list, s)
}

// contents shows what is in a section.
func (b *j9Body) contents(s *j9Section) {
	if s.fields != nil {
		s.fields()
	}
	for _, l := range s.lists {
		b.out.list(l.name)
		for _, row := range l.rows {
			if b.out.lost() != nil {
				break
			}
			b.out.row()
			row()
		}
		b.out.endList()
	}
}

// bytes are those of a section.
func (b *j9Body) bytes(s *j9Section) []byte {
	if s.offset < 0 || s.size < 0 || s.offset > int64(len(b.blob))-s.size {
		return nil
	}
	return b.blob[s.offset : s.offset+s.size]
}

// fill says what is in a section.
func (b *j9Body) fill(shown *j9Section, s *j9meta.Section) {
	switch s.Kind {
	case j9meta.ExceptionTable:
		shown.fields = b.header
	case j9meta.ExceptionInfo:
		shown.lists = []j9List{b.exceptions()}
	case j9meta.InlineInfo:
		shown.lists = []j9List{b.sites()}
	case j9meta.StackAtlasSection:
		shown.fields = b.atlas
		shown.lists = []j9List{b.stackMaps()}
	case j9meta.StackAllocSection:
		shown.fields = b.stackAlloc
	case j9meta.InternalPointerSection:
		shown.fields = b.internalPointers
	case j9meta.OSRSection:
		shown.fields = b.osr
		shown.lists = b.osrLists()
	case j9meta.GPUSection:
		shown.fields = b.gpu
		shown.lists = []j9List{b.kernels()}
	case j9meta.BytecodeSection:
		shown.fields = b.bytecodeMap
		shown.lists = []j9List{b.bytecodes()}
	case j9meta.InvokeBasicSection:
		shown.fields = b.invokeBasicHead
		shown.lists = []j9List{b.invokeBasic()}
	default:
		shown.fields = func() { b.unaccounted(s.Bytes) }
	}
}

// maxBytesShown is how many bytes of no meaning stand in a line.
const maxBytesShown = 32

// unaccounted shows bytes that belong to no section.
func (b *j9Body) unaccounted(gap []byte) {
	if len(gap) <= maxBytesShown {
		b.out.id("bytes", gap)
	}
}

// spare shows bytes that mean nothing if there is anything in them.
func (b *j9Body) spare(name string, v []byte) {
	if len(bytes.Trim(v, "\x00")) > 0 {
		b.out.id(name, v)
	}
}

// header shows the fixed part: a line for each group of fields, with where that is.
func (b *j9Body) header() {
	h, o := &b.body.Header, b.out
	p := uint64(b.body.Layout.PointerSize)
	o.list("fields")
	group := func(offset uint64) {
		_, text := o.(*textForm)
		if text || offset == 0 {
			o.row()
		}
		if text {
			o.offset(offset)
		}
	}
	group(0)
	o.hex("className", h.ClassName)
	o.hex("methodName", h.MethodName)
	o.hex("methodSignature", h.MethodSignature)
	o.hex("constantPool", h.ConstantPool)
	o.hex("ramMethod", h.RAMMethod)
	b.method(b.siteName(-1))
	group(5 * p)
	o.hex("startPC", h.StartPC)
	o.hex("endWarmPC", h.EndWarmPC)
	o.hex("startColdPC", h.StartColdPC)
	o.hex("endPC", h.EndPC)
	o.num("totalFrameSize", h.TotalFrameSize)
	group(10 * p)
	o.signed("slots", int64(h.Slots))
	o.signed("scalarTempSlots", int64(h.ScalarTempSlots))
	o.signed("objectTempSlots", int64(h.ObjectTempSlots))
	o.num("prologuePushes", uint64(h.ProloguePushes))
	o.signed("tempOffset", int64(h.TempOffset))
	o.hex("numExcptionRanges", uint64(h.NumExceptionRanges))
	o.num("exceptions", uint64(h.ExceptionCount()))
	var bits []string
	if h.WideExceptions() {
		bits = append(bits, "wide")
	}
	if h.ExceptionBytecodes() {
		bits = append(bits, "FSD")
	}
	o.words("exception_entries", bits)
	o.signed("size", int64(h.Size))
	group(10*p + 16)
	o.words("flags", j9Flags(h.Flags))
	o.hex("registerSaveDescription", h.RegisterSaveDescription)
	o.hex("gcStackAtlas", h.GCStackAtlas)
	o.hex("inlinedCalls", h.InlinedCalls)
	o.hex("bodyInfo", h.BodyInfo)
	group(15*p + 16)
	o.hex("nextMethod", h.NextMethod)
	o.hex("prevMethod", h.PrevMethod)
	o.hex("debugSlot1", h.DebugSlot1)
	o.hex("debugSlot2", h.DebugSlot2)
	o.hex("osrInfo", h.OSRInfo)
	o.hex("runtimeAssumptionList", h.RuntimeAssumptionList)
	group(21*p + 16)
	o.signed("hotness", int64(h.Hotness))
	b.spare("padding", h.HotnessPad[:])
	o.hex("codeCacheAlloc", h.CodeCacheAlloc)
	o.hex("gpuCode", h.GPUCode)
	o.hex("riData", h.RIData)
	if size := uint64(b.body.Layout.HeaderSize); size >= 26*p+16 {
		o.hex("invokeBasicCallInfo", h.InvokeBasicCallInfo)
		if size >= 27*p+16 {
			o.hex("constRefArrays", h.ConstRefArrays)
		}
	}
	if len(h.Extra) > 0 {
		o.id("extra", h.Extra)
	}
	o.endList()
}

// j9Flags are the names of flags.
func j9Flags(f j9meta.Flags) []string {
	if f == 0 {
		return nil
	}
	return strings.Split(f.String(), "|")
}

// info shows a TR_ByteCodeInfo.
func (b *j9Body) info(i j9meta.ByteCodeInfo) {
	b.out.signed("callerIndex", int64(i.CallerIndex))
	b.out.signed("byteCodeIndex", int64(i.ByteCodeIndex))
	var bits []string
	if i.SameReceiver {
		bits = append(bits, "isSameReceiver")
	}
	if i.DoNotProfile {
		bits = append(bits, "doNotProfile")
	}
	if len(bits) > 0 {
		b.out.words("bits", bits)
	}
}

// method shows the name of a method of which something else says which it is. Where there is
// nothing but its pointer, that is enough.
func (b *j9Body) method(name string) {
	if !strings.HasPrefix(name, "0x") {
		b.out.str("method", []byte(name))
	}
}

// siteName is what an index of inlined sites stands for; -1 is the body itself.
func (b *j9Body) siteName(i int) string {
	switch {
	case i < 0:
		return b.methodName(b.body.Header.RAMMethod, false)
	case i < len(b.body.Sites):
		return b.methodName(b.body.Sites[i].Method, b.body.Layout.Unloaded(b.body.Sites[i].Method))
	}
	return fmt.Sprintf("site %d, which there is not", i)
}

// methodName is a method's name, or else its pointer.
func (b *j9Body) methodName(method uint64, unloaded bool) string {
	switch name := b.methods.name(method); {
	case unloaded:
		return "[unloaded]"
	case name != "":
		return name
	}
	return fmt.Sprintf("%#x", method)
}
