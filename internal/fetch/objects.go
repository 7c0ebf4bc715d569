package fetch

import (
	"context"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// An object is a file that a result refers to: jitted-….so. A path may have
// several objects, of mappings with different build ids.
type object struct {
	path string // as the recording names it
	id   string // build id, as bytes; "" if the recording does not have it
	hit  bool
}

// A mapping says that a process has an object at a range of addresses.
type mapping struct {
	pid    uint32
	object int
	addrs.Range
}

// A result is a recording with the objects that it refers to, in the order of their first mappings.
type result struct {
	rec      *recording.Recording
	objects  []object
	mappings []mapping
}

// readObjects walks the recording and returns its objects and processes. Its errors are ctx's or
// those of reading.
func readObjects(ctx context.Context, in *recording.Input) (*result, error) {
	rec, err := recording.New(in)
	if err != nil {
		return nil, err
	}
	r := &result{rec: rec}
	known := make(map[object]int)
	for block, err := range in.Walk(ctx, report.PhaseNone) {
		if err != nil {
			return nil, err
		}
		for at, record := range block.Records() {
			switch record.Type {
			case perfdata.RecordSample:
				continue
			case perfdata.RecordMmap, perfdata.RecordMmap2:
				m, err := rec.Layouts.Mmap(record)
				if err != nil || !recording.IsObject(m.Filename) || m.Addr+m.Len < m.Addr {
					break
				}
				o := object{path: string(m.Filename), id: string(m.BuildID)}
				i, ok := known[o]
				if !ok {
					i = len(r.objects)
					known[o] = i
					r.objects = append(r.objects, o)
				}
				r.mappings = append(r.mappings, mapping{m.PID, i, addrs.Range{Lo: m.Addr, Hi: m.Addr + m.Len}})
				continue
			}
			rec.Observe(record, block.Pos+int64(at))
		}
	}
	table, err := in.BuildIDs()
	if err != nil {
		return nil, err
	}
	r.lookUpIDs(table)
	return r, nil
}

// lookUpIDs gives objects without a build id the one in the build-id table.
func (r *result) lookUpIDs(table []byte) {
	without := make(map[string][]int) // objects, by path
	for i := range r.objects {
		if o := &r.objects[i]; o.id == "" {
			without[o.path] = append(without[o.path], i)
		}
	}
	if len(without) == 0 {
		return
	}
	for e, err := range perfdata.BuildIDs(r.rec.In.Order, table) {
		if err != nil {
			break // use the entries read so far
		}
		for _, i := range without[string(e.Filename)] {
			r.objects[i].id = string(e.BuildID)
		}
	}
}
