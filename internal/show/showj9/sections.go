package showj9

import (
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/show"
)

// Sections of which the entries do not have their offsets, or lie in another order.

type exceptionInfo struct {
	Entries []j9meta.Exception `show:"entries,picked"`
}

type inlineInfo struct {
	Entries []j9meta.InlinedSite `show:"entries,picked"`
}

type stackRanges struct {
	Ranges []stackRange `show:"ranges,picked"`
}

type stackRange struct{ j9meta.Range }

// Sizes of parts of the OSR info in bytes.
const (
	j9OSRSize    = 4  // of section 0, where it has nothing but its size
	j9OSRHead    = 12 // of section 0, else
	j9OSRMapping = 8
	j9OSRSlot    = 16
	j9OSRTail    = 8 // of section 1
)

// osrInfo has both sections of the OSR info.
type osrInfo struct {
	Size0       int          `show:"section_0_size"`
	ScratchSize uint32       `show:"max_scratch_buffer_size,since:1"`
	Count0      int          `show:"section_0_mappings,since:1"`
	Size1       int          `show:"section_1_size"`
	Count1      int          `show:"section_1_mappings"`
	Mappings    []osrMapping `show:"section_0,picked"`
	Catches     []osrCatch   `show:"section_1,picked"`
}

type osrMapping struct {
	Offset int       `show:"offset,offset"`
	PC     uint32    `show:"instruction_pc_offset,hex"`
	Count  int       `show:"scratch_buffer_infos"`
	Slots  []osrSlot `show:"slots"`
}

type osrSlot struct {
	Offset int `show:"offset,offset"`
	j9meta.OSRSlot
}

type osrCatch struct {
	Offset int    `show:"offset,offset"`
	Site   int    `show:"inlined_site_index"`
	PC     uint32 `show:"start_pc_offset,hex"`
}

func newOSR(i *j9meta.OSRInfo) *osrInfo {
	r := &osrInfo{ScratchSize: i.MaxScratchSize, Count0: len(i.Mappings), Size1: j9OSRTail + 4*len(i.CatchBlocks), Count1: len(i.CatchBlocks)}
	at := i.Offset + j9OSRSize
	if !i.SizeOnly {
		at = i.Offset + j9OSRHead
	}
	for _, m := range i.Mappings {
		row := osrMapping{Offset: at, PC: m.PC, Count: len(m.Slots)}
		at += j9OSRMapping
		for _, s := range m.Slots {
			row.Slots = append(row.Slots, osrSlot{at, s})
			at += j9OSRSlot
		}
		r.Mappings = append(r.Mappings, row)
	}
	r.Size0 = at - i.Offset
	at += j9OSRTail
	for n, pc := range i.CatchBlocks {
		r.Catches = append(r.Catches, osrCatch{at + 4*n, n - 1, pc})
	}
	return r
}

// gpuInfo is struct GpuMetaData with its kernels.
type gpuInfo struct {
	*j9meta.GPUInfo
	Entries []gpuKernel `show:"kernels,picked"`
}

type gpuKernel struct {
	Offset int `show:"offset,offset"` // of the line; the text is elsewhere
	j9meta.GPUKernel
	TextOffset uint64 `show:"ptx_array_entry_offset,hex"`
}

func (b *Body) newGPU(g *j9meta.GPUInfo) *gpuInfo {
	p := b.Decoded.Layout.PointerSize
	r := &gpuInfo{GPUInfo: g}
	lines := g.Offset + 4*p + 8 + len(g.Signature) + 1
	text := lines + len(g.Kernels)*(4+p)
	for i, k := range g.Kernels {
		r.Entries = append(r.Entries, gpuKernel{lines + 4*i, k, uint64(text)})
		text += len(k.Text) + 1
	}
	return r
}

// bytecodeMap is the map for hardware profiling.
type bytecodeMap struct {
	*j9meta.BytecodeMap
	Entries []bytecodeEntry `show:"entries,picked"`
}

type bytecodeEntry struct {
	Offset int `show:"offset,offset"`
	j9meta.BytecodeEntry
}

// invokeBasicInfo has the calls that may end in MethodHandle.invokeBasic.
type invokeBasicInfo struct {
	*j9meta.InvokeBasicInfo
	Calls []invokeBasicSite `show:"sites,picked"`
}

type invokeBasicSite struct {
	Offset int `show:"offset,offset"`
	j9meta.InvokeBasicSite
}

// gap is bytes that belong to no section.
type gap struct {
	Bytes []byte `show:"bytes,id,opt"`
}

// maxBytesShown is how many bytes of no meaning stand in a line.
const maxBytesShown = 32

// record returns what is in a section: a pointer to a struct, or nil.
func (b *Body) record(s *j9meta.Section) any {
	d := b.Decoded
	p := d.Layout.PointerSize
	switch s.Kind {
	case j9meta.ExceptionTable:
		return &d.Header
	case j9meta.ExceptionInfo:
		return &exceptionInfo{d.Exceptions}
	case j9meta.InlineInfo:
		return &inlineInfo{d.Sites}
	case j9meta.StackAtlasSection:
		if d.Atlas != nil {
			return d.Atlas
		}
	case j9meta.StackAllocSection:
		if d.StackAlloc != nil {
			return d.StackAlloc
		}
	case j9meta.InternalPointerSection:
		if d.InternalPointers != nil {
			return d.InternalPointers
		}
	case j9meta.OSRSection:
		if d.OSR != nil {
			return newOSR(d.OSR)
		}
	case j9meta.GPUSection:
		if d.GPU != nil {
			return b.newGPU(d.GPU)
		}
	case j9meta.BytecodeSection:
		if d.Bytecodes != nil {
			r := &bytecodeMap{BytecodeMap: d.Bytecodes}
			for i, e := range d.Bytecodes.Entries {
				r.Entries = append(r.Entries, bytecodeEntry{d.Bytecodes.Offset + 2*p*(i+1), e})
			}
			return r
		}
	case j9meta.InvokeBasicSection:
		if d.InvokeBasic != nil {
			r := &invokeBasicInfo{InvokeBasicInfo: d.InvokeBasic}
			for i, s := range d.InvokeBasic.Sites {
				r.Calls = append(r.Calls, invokeBasicSite{d.InvokeBasic.Offset + p + (8+p)*i, s})
			}
			return r
		}
	default:
		if len(s.Bytes) <= maxBytesShown {
			return &gap{s.Bytes}
		}
	}
	return &gap{}
}

// add writes what is no field of a part of the metadata, and says which entries are wanted.
func (b *Body) add(o show.Form, rec any) {
	none := func(*show.Filter) bool { return false } // of entries without a method
	switch r := rec.(type) {
	case *j9meta.Header:
		if !show.Matching(o) {
			b.header(o, r)
		}
	case *j9meta.ByteCodeInfo:
		info(o, r)
	case *j9meta.Exception:
		b.exception(o, r)
	case *j9meta.InlinedSite:
		match(o, !b.filter.Address.Set && b.chosen(0, 0, b.siteNamed(b.view.Row)))
		writeMethod(o, b.siteName(b.view.Row))
	case *j9meta.StackMap:
		match(o, b.picky() && b.wantedMap(b.view.Row))
		b.stackMap(o, r)
	case *j9meta.InternalPointerMap:
		pinningArrays(o, r.Arrays)
		spare(o, "extra", r.Extra)
	case *osrMapping:
		match(o, b.chosen(uint64(r.PC), uint64(r.PC), func(f *show.Filter) bool {
			for _, s := range r.Slots {
				if b.siteNamed(int(s.Site))(f) {
					return true
				}
			}
			return false
		}))
	case *osrCatch:
		match(o, (r.PC != 0 || !b.filter.Address.Set) && b.chosen(uint64(r.PC), uint64(r.PC), b.siteNamed(r.Site)))
		writeMethod(o, b.siteName(r.Site))
	case *bytecodeMap:
		if r.Eyecatcher != j9meta.BytecodeEyecatcher {
			o.Word("map", "not filled in")
		}
	case *bytecodeEntry:
		at := r.Instruction - b.Decoded.Header.StartPC
		match(o, b.chosen(at, at, none))
	case *invokeBasicSite:
		match(o, b.chosen(uint64(r.ReturnOffset), uint64(r.ReturnOffset), none))
	case *stackRange:
		if show.Matching(o) {
			match(o, b.rangeChosen(&r.Range))
		} else {
			b.codeRange(o, &r.Range)
		}
	}
}
