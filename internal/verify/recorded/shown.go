package recorded

import (
	"context"

	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/perfdata"
)

// An ObjectMapping is a mapping of an object of jitted functions.
type ObjectMapping struct {
	Addr, Len, Pgoff uint64
	Path             string
	time             uint64
}

// ObjectMappings returns the mappings of objects of jitted functions of a process.
func ObjectMappings(ctx context.Context, recording string, pid uint32) (shown []ObjectMapping, err error) {
	_, err = Walk(ctx, recording, func(rec *File, r perfdata.Record) {
		if r.Type != perfdata.RecordMmap && r.Type != perfdata.RecordMmap2 {
			return
		}
		if m, err := rec.Mmap(r); err == nil && m.PID == pid && m.Len > 0 && jitted.IsObject(string(m.Filename)) {
			time, _ := rec.Time(r)
			shown = append(shown, ObjectMapping{m.Addr, m.Len, m.PgOff, string(m.Filename), time})
		}
	})
	return shown, err
}
