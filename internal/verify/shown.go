package verify

import (
	"context"

	"github.com/jitinject/jitinject/perfdata"
)

// A shownCode is a mapping of an object of jitted functions.
type shownCode struct {
	addr, len, pgoff uint64
	path             string
	time             uint64
}

// shownCodeOf returns the mappings of objects of jitted functions of a process.
func shownCodeOf(ctx context.Context, recording string, pid uint32) (shown []shownCode, err error) {
	_, err = walkRecording(ctx, recording, func(rec *recordingFile, r perfdata.Record) {
		if r.Type != perfdata.RecordMmap && r.Type != perfdata.RecordMmap2 {
			return
		}
		if m, err := rec.Mmap(r); err == nil && m.PID == pid && m.Len > 0 && isJITObject(string(m.Filename)) {
			time, _ := rec.Time(r)
			shown = append(shown, shownCode{m.Addr, m.Len, m.PgOff, string(m.Filename), time})
		}
	})
	return shown, err
}
