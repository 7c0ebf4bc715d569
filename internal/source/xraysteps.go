package source

import (
	"errors"
	"io"

	"github.com/jitinject/jitinject/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/wire"
)

// An xraySteps makes steps of the records of one thread, buffer by buffer.
type xraySteps struct {
	trace  *XRayTrace
	thread *XRayThread
	tid    uint32
	blocks []xrayfdr.Block // still to come, with the one that is read

	r     *xrayfdr.Reader
	ahead *xrayfdr.Record // was read to see whether it is an argument
	err   error           // what reading ahead found
	began bool            // a block is being read

	time uint64         // of the last record, in the recording
	far  func() uint64  // nil, or what to add to the times of this block
	args []uint64       // of the last entry
	seen xrayfdr.Repairs // of r, that are counted
}

func newXRaySteps(t *XRayTrace, thread *XRayThread) *xraySteps {
	x := t.process.x
	tid := thread.TID
	if t.at.TID != nil {
		tid = t.at.TID(tid)
	}
	return &xraySteps{trace: t, thread: thread, tid: tid, blocks: thread.blocks, r: xrayfdr.ReadBlocks(x.src, x.index.Header, thread.blocks)}
}
