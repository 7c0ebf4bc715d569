package j9meta

// FormatName is the format's name in errors.
const FormatName = "OpenJ9 metadata"

// A Body is the metadata of one compiled method.
type Body struct {
	Layout Layout // with HeaderSize and HighWords as they were found
	Base   uint64 // address of the blob in its process; pointers into it count from there
	Header Header

	Exceptions []Exception   // (1) of the document
	Sites      []InlinedSite // (2)
	Atlas      *StackAtlas   // (3), nil: a stub

	// Sections tile the blob in its order, beginning with the header. The later ones, and gaps, are
	// for the VM alone: only they have their bytes here.
	Sections []Section
}

// A Section is a part of the blob.
type Section struct {
	Kind   SectionKind
	Offset int // in the blob
	Size   int // in bytes
	// Bytes are those of a section that is not decoded, and nil for all others.
	Bytes []byte
}

// A SectionKind says what a Section holds.
type SectionKind uint8

// The sections in the order of the blob, by the names that OpenJ9's document
// J9JITExceptionTable.md has for them.
const (
	ExceptionTable SectionKind = iota // the header, struct J9JITExceptionTable
	ExceptionInfo
	InlineInfo
	StackAtlasSection
	StackAllocSection
	InternalPointerSection
	OSRSection
	GPUSection
	BytecodeSection
	InvokeBasicSection
	Gap // bytes that nothing accounts for
)

var sectionNames = [...]string{
	"J9JITExceptionTable", "Exception Info", "Inline Info", "Stack Atlas", "Stack Alloc Map",
	"Internal Pointer Map in J9 Format", "OSR Info", "GPU Info", "Bytecode PC to Instruction Address Map",
	"invokeBasic Call Info", "Gap",
}

// Decoded reports whether the Body has what is in the section.
func (k SectionKind) Decoded() bool { return k <= StackAtlasSection }

// String returns the document's name of the section.
func (k SectionKind) String() string {
	if int(k) < len(sectionNames) {
		return sectionNames[k]
	}
	return "unknown"
}
