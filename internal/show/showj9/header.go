package showj9

import (
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/show"
)

// headerLines are the fields of the fixed part, in the lines of its text. Each line is behind some
// pointers and bytes.
var headerLines = []struct {
	pointers, bytes uint64
	fields          *show.Fields
}{
	{0, 0, headerFields("className=ClassName,hex", "methodName=MethodName,hex", "methodSignature=MethodSignature,hex", "constantPool=ConstantPool,hex", "ramMethod=RAMMethod,hex")},
	{5, 0, headerFields("startPC=StartPC,hex", "endWarmPC=EndWarmPC,hex", "startColdPC=StartColdPC,hex", "endPC=EndPC,hex", "totalFrameSize=TotalFrameSize")},
	{10, 0, headerFields("slots=Slots", "scalarTempSlots=ScalarTempSlots", "objectTempSlots=ObjectTempSlots", "prologuePushes=ProloguePushes", "tempOffset=TempOffset", "numExcptionRanges=NumExceptionRanges,hex")},
	{10, 16, headerFields("flags=Flags,set", "registerSaveDescription=RegisterSaveDescription,hex", "gcStackAtlas=GCStackAtlas,hex", "inlinedCalls=InlinedCalls,hex", "bodyInfo=BodyInfo,hex")},
	{15, 16, headerFields("nextMethod=NextMethod,hex", "prevMethod=PrevMethod,hex", "debugSlot1=DebugSlot1,hex", "debugSlot2=DebugSlot2,hex", "osrInfo=OSRInfo,hex", "runtimeAssumptionList=RuntimeAssumptionList,hex")},
	{21, 16, headerFields("hotness=Hotness", "padding=HotnessPad,opt", "codeCacheAlloc=CodeCacheAlloc,hex", "gpuCode=GPUCode,hex", "riData=RIData,hex")},
	{25, 16, headerFields("invokeBasicCallInfo=InvokeBasicCallInfo,hex")},
	{26, 16, headerFields("constRefArrays=ConstRefArrays,hex")},
}

func headerFields(specs ...string) *show.Fields { return show.Table(j9meta.Header{}, specs) }

// header writes the fixed part: in text a line for each group of fields, with where that is.
func (b *Body) header(o show.Form, h *j9meta.Header) {
	p, size := uint64(b.Decoded.Layout.PointerSize), uint64(b.Decoded.Layout.HeaderSize)
	_, text := o.(*show.TextForm)
	plain := b.view
	plain.Add = nil
	o.List("fields")
	for i, line := range headerLines {
		at := line.pointers*p + line.bytes
		if i > 5 && size < at+p { // newer than the struct
			break
		}
		if i == 0 || text && i <= 5 {
			o.Row()
		}
		if text && i <= 5 {
			o.Offset(at)
		}
		plain.Fields(o, h, line.fields)
		switch i {
		case 0:
			writeMethod(o, b.siteName(-1))
		case 2:
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
		}
	}
	spare(o, "extra", h.Extra)
	o.EndList()
}
