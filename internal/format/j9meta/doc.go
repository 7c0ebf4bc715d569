// Package j9meta decodes and encodes the metadata that OpenJ9's compiler leaves
// beside the code of each method: struct J9JITExceptionTable and what follows it.
// It says which bytecode of which method, through how many inlined calls, a piece
// of the code is of, where exceptions go on, and where the garbage collector
// finds objects.
//
// The format is described in OpenJ9's tree, in
// runtime/compiler/runtime/J9JITExceptionTable.md (2018 and later), as far as no C
// structure describes it. The structures are in runtime/oti/j9nonbuilder.h and in
// OMR's compiler/env/jittypes.h; what writes them is MetaData.cpp, what reads them
// MethodMetaData.c, both beside the document. Where these say more than the
// document, or other, this package follows them: in what is in brackets below.
//
// # Layout
//
// The metadata has no byte order, no size of pointers and no machine, as it is
// never meant to leave its process. A [Layout] has them, and [Decode] infers what
// it can. Pointers into the metadata are addresses, so where it was in the
// process must be known as well. There is no alignment beyond that of the
// header's fields, except where it says so. ptr is 4 or 8 bytes, offsets count
// from startPC:
//
//	offset size   header, struct J9JITExceptionTable (with ptr 8)
//	  0    5 ptr  className, methodName, methodSignature, constantPool, ramMethod
//	 40    4 ptr  startPC, endWarmPC, startColdPC, endPC
//	 72    ptr    totalFrameSize
//	 80    10     slots, scalarTempSlots, objectTempSlots, prologuePushes, tempOffset
//	 90    u16    numExcptionRanges: 14 bits, 0x4000 with bytecode index, 0x8000 wide
//	 92    i32    size of it all
//	 96    ptr    flags, see Flags
//	104    ptr    registerSaveDescription
//	112    2 ptr  gcStackAtlas, inlinedCalls
//	128    5 ptr  bodyInfo, nextMethod, prevMethod, debugSlot1, debugSlot2
//	168    2 ptr  osrInfo, runtimeAssumptionList
//	184    i32    hotness, padded to ptr
//	192    3 ptr  codeCacheAlloc, gpuCode, riData
//	216    ptr    [invokeBasicCallInfo, since OpenJ9 0.51]
//	224    ptr    [constRefArrays, after OpenJ9 0.53]
//
//	(1) Exception Info: numExcptionRanges entries
//	       u16    start, end, handler, catch type [0xffff: of on-stack replacement]
//	   or  u32    the same, if wide [a property of this table alone: if the code has
//	              65535 bytes, a catch type needs it, or a handler is of an inlined
//	              method], followed by
//	       ptr    J9Method [of AOT and JITServer: index of the inlined site]
//	   and u32    BC index, if there are any
//
//	(2) Inline Info, inlinedCalls points to it: sites up to the atlas
//	       ptr    J9Method
//	       u32    TR_ByteCodeInfo of the call, see ByteCodeInfo; padded to ptr
//	       bits   monitor autos map, numberOfMapBytes
//
//	(3) Stack Atlas, gcStackAtlas points to it
//	       2 ptr  stackAllocMap, internalPointerMap
//	       u16    numberOfMaps
//	       u16    numberOfMapBytes, the size of all bits here
//	       i16    parmBaseOffset
//	       u16    numberOfParmSlots
//	       i16    localBaseOffset
//	       u16    paddingTo32 [offset of what a synchronized method locks]; padded to ptr
//	       bits   monitor autos map
//	       then numberOfMaps stack maps, by growing offsets:
//	       u16    lowest code offset; u32 if flag 2; [ARM, 32 bits: padded to 4 bytes]
//	       u32    TR_ByteCodeInfo; if doNotProfile is set, this is all
//	              [s390 up to 2019: u32, map of the high halves of registers; not read]
//	       u32    register save description
//	       u32    register map
//	       -      Internal Pointer Map, if the register map has bit 0x80000000 [POWER:
//	              0x00040000] and internalPointerMap is not 0: u8 size, and so many bytes
//	       bits   map bits; the highest bit of the last byte says that there are
//	       bits   live monitor bits
//
//	The other sections are for the VM alone, and not decoded here, nor are the exceptions:
//	(4) Stack Alloc Map, stackAllocMap points to it
//	(5) Internal Pointer Map in J9 Format, internalPointerMap points to it
//	(6) OSR Info, osrInfo points to it
//	(7) GPU Info, gpuCode points to it
//	(8) Bytecode PC to Instruction Address Map, riData points to it
//	(9) [invokeBasicCallInfo points to it, aligned as a pointer]
//
// # Reading
//
// Decode is strict where the VM relies on what it reads: pointers lead into the
// blob, to sections in the order above, which end before the next begins. All other bytes are kept as
// sections of kind [Other], so that the sections tile the blob. Nothing is checked
// that costs no bytes; what an index or an offset means is for who uses it.
//
// # Meaning
//
// [Body.Ranges] has the code by stack maps. A map is made where the method may be
// interrupted: at calls, allocations, loop ends. Its offset is that of the
// instruction itself, or of the last byte of a call that was moved out of line, and
// it lasts up to the next map's; so an instruction between two of them is given the
// bytecode of the first. The VM looks up a return address by the byte before it.
// Offsets go on from the warm part of the code across whatever lies between to the
// cold part.
//
// [Body.Stack] makes inline stacks of a range's bytecode. A frame is
//
//	the method of site callerIndex, at byteCodeIndex
//
// and the one below it the same of the site's own TR_ByteCodeInfo, down to
// callerIndex -1, the compiled method. Sites of classes that were unloaded, and in
// bodies compiled ahead of time those that are not known, have no method that
// could be named ([Layout.Unloaded]); the VM's stack walker leaves them out.
package j9meta
