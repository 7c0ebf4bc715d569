package j9meta

import (
	"bytes"

	"github.com/jitinject/jitinject/internal/wire"
)

// GPUInfo describes the kernels that were made from the method for CUDA devices,
// section (7) of the document. Its parts lie one behind the other, in the order
// of these fields, and without alignment; see populateGpuPtx in MetaData.cpp.
type GPUInfo struct {
	Offset int // of struct GpuMetaData, from the start of the blob

	// struct GpuMetaData: addresses in the process, and counts. The number of
	// kernels is that of Kernels.
	MethodSignature  uint64
	MaxCachedDevices uint32
	LineNumberArray  uint64
	PTXArray         uint64
	CUModuleArray    uint64

	Signature []byte // the method's, as OpenJ9's logs have it, without its NUL
	Kernels   []GPUKernel

	// CUModules is where modules are kept once they are loaded: a pointer for each
	// device and kernel, or nothing where the compiler was built without CUDA.
	CUModules []byte
}

// A GPUKernel is one of the method's loops.
type GPUKernel struct {
	Line uint32 // in the source
	PTX  uint64 // address of Text in the process
	Text []byte // PTX assembly, without its NUL
}

func gpuHeadSize(pointer int) int { return 4*pointer + 8 }

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
			c.Fail(field, "%#x is pointed to, expected %#x, behind what comes before", pointer, at)
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

func (g *GPUInfo) size(l Layout) int {
	size := gpuHeadSize(l.PointerSize) + len(g.Signature) + 1 + len(g.CUModules)
	for _, k := range g.Kernels {
		size += 4 + l.PointerSize + len(k.Text) + 1
	}
	return size
}

// lay sets the pointers for a section at an offset.
func (g *GPUInfo) lay(l Layout, base uint64, offset int) {
	g.Offset = offset
	at := offset + gpuHeadSize(l.PointerSize)
	next := func(size int) uint64 {
		address := l.address(base, at)
		at += size
		return address
	}
	g.MethodSignature = next(len(g.Signature) + 1)
	g.LineNumberArray = next(4 * len(g.Kernels))
	g.PTXArray = next(l.PointerSize * len(g.Kernels))
	for i := range g.Kernels {
		k := &g.Kernels[i]
		k.PTX = next(len(k.Text) + 1)
	}
	g.CUModuleArray = next(0)
}

func (g *GPUInfo) encode(b *wire.Buffer, l Layout) {
	b.Word(g.MethodSignature, l.PointerSize)
	b.U32(uint32(len(g.Kernels)))
	b.U32(g.MaxCachedDevices)
	b.Word(g.LineNumberArray, l.PointerSize)
	b.Word(g.PTXArray, l.PointerSize)
	b.Word(g.CUModuleArray, l.PointerSize)
	b.Bytes(g.Signature)
	b.U8(0)
	for _, k := range g.Kernels {
		b.U32(k.Line)
	}
	for _, k := range g.Kernels {
		b.Word(k.PTX, l.PointerSize)
	}
	for _, k := range g.Kernels {
		b.Bytes(k.Text)
		b.U8(0)
	}
	b.Bytes(g.CUModules)
}

// hasNUL reports whether a string cannot be written with a NUL at its end.
func (g *GPUInfo) hasNUL() bool {
	for _, k := range g.Kernels {
		if bytes.IndexByte(k.Text, 0) >= 0 {
			return true
		}
	}
	return bytes.IndexByte(g.Signature, 0) >= 0
}
