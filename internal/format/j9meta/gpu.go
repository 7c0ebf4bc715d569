package j9meta

import "github.com/jitinject/jitinject/internal/wire"

// GPUInfo describes the kernels that were made from the method for CUDA devices,
// section (7) of the document. Its parts lie one behind the other, in the order
// of these fields, and without alignment; see populateGpuPtx in MetaData.cpp.
type GPUInfo struct {
	Offset int // of struct GpuMetaData, from the start of the blob

	// struct GpuMetaData: addresses in the process, and counts. The number of
	// kernels is that of Kernels.
	MethodSignature  uint64 `show:"methodSignature,hex"`
	MaxCachedDevices uint32 `show:"maxNumCachedDevices"`
	LineNumberArray  uint64 `show:"lineNumberArray,hex"`
	PTXArray         uint64 `show:"ptxArray,hex"`
	CUModuleArray    uint64 `show:"cuModuleArray,hex"`

	Signature []byte      `show:"method_signature"` // the method's, as OpenJ9's logs have it, without its NUL
	Kernels   []GPUKernel `show:"numPtxKernels,len"`

	// CUModules is where modules are kept once they are loaded: a pointer for each
	// device and kernel, or nothing where the compiler was built without CUDA.
	CUModules []byte `show:"cu_module_array,id,opt"`
}

// A GPUKernel is one of the method's loops.
type GPUKernel struct {
	Line uint32 `show:"line_number"`                  // in the source
	PTX  uint64 `show:"ptx_array_entry_location,hex"` // address of Text in the process
	Text []byte `show:"ptx_array_entry"`              // PTX assembly, without its NUL
}

// decodeGPU decodes from a cursor that ends where the next section begins, or
// the blob. base is the address of the blob in the process.
func decodeGPU(c *wire.Cursor, l Layout, base uint64) *GPUInfo {
	g := &GPUInfo{Offset: int(c.Offset())}
	g.MethodSignature = word(c, l, "methodSignature")
	n := c.U32("numPtxKernels")
	if uint64(n)*uint64(5+l.PointerSize) > uint64(c.Len()) {
		c.Bad("numPtxKernels", "%d kernels do not fit into the %d bytes that follow", n, c.Len())
		return g
	}
	g.MaxCachedDevices = c.U32("maxNumCachedDevices")
	g.LineNumberArray = word(c, l, "lineNumberArray")
	g.PTXArray = word(c, l, "ptxArray")
	g.CUModuleArray = word(c, l, "cuModuleArray")
	here := func(field string, pointer uint64) {
		if at := l.address(base, int(c.Offset())); pointer != at {
			c.Fail(field, "%#x is pointed to, expected %#x, after the part before", pointer, at)
		}
	}
	here("methodSignature", g.MethodSignature)
	g.Signature = c.CString("method signature")
	here("lineNumberArray", g.LineNumberArray)
	for range n {
		g.Kernels = append(g.Kernels, GPUKernel{Line: c.U32("line number")})
	}
	here("ptxArray", g.PTXArray)
	for i := range g.Kernels {
		g.Kernels[i].PTX = word(c, l, "PTX array entry location")
	}
	for i := range g.Kernels {
		k := &g.Kernels[i]
		here("PTX array entry location", k.PTX)
		k.Text = c.CString("PTX array entry")
	}
	here("cuModuleArray", g.CUModuleArray)
	if size := uint64(n) * uint64(g.MaxCachedDevices) * uint64(l.PointerSize); size <= uint64(c.Len()) {
		g.CUModules = c.Bytes("CU module array", size)
	}
	return g
}
