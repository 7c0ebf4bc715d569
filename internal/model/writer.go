package model

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// Writer says whether the process that wrote the dump still runs. A process that maps a file of the
// recorded name at the recorded place is that one. One that the recording does not see end has ended if
// its machine, by name, is this one, and no process has its number.
func (d *Dump) Writer(rec *recording.Recording) report.Writer {
	if p := rec.Processes[d.PID]; p != nil && p.Exited != 0 {
		return report.WriterEnded
	}
	files, _ := procmem.MappedFiles(d.PID) // of any process, also on another machine
	base := func(path string) string { return filepath.Base(strings.TrimSuffix(path, recording.DeletedSuffix)) }
	for _, m := range d.Markers {
		for _, f := range files {
			if m.PID == d.PID && f.Start == m.Addr && f.End == m.Addr+m.Len && base(f.Name) == base(m.Path) {
				return report.WriterRuns
			}
		}
	}
	host, err := os.Hostname()
	if err == nil && host == rec.Hostname && errors.Is(unix.Kill(int(int32(d.PID)), 0), unix.ESRCH) {
		return report.WriterEnded
	}
	return report.WriterUnknown
}
