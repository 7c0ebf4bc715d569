package inject

import (
	"debug/elf"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// The frames that traces of a JIT run in, where they have none of their own.

// interpreter is the function of PHP in whose frame its traces run.
const interpreter = "execute_ex"

// maxFrames bounds the unwind tables of a program that are read, in bytes.
const maxFrames = 256 << 20

// hostFrame returns the frame that traces of a dump run in, or nil if it has none, or
// nobody knows. Then it says why.
func (rec *recording) hostFrame(d *dump) (*jitcode.FrameRow, string) {
	if !d.source.HasTraces() {
		return nil, ""
	}
	why := "the recording does not say which program runs them"
	time := uint64(0)
	for i := range d.source.Events {
		time = max(time, d.clock(d.source.Events[i].Time))
	}
	for _, m := range rec.fileMapsOf(d.pid, time) {
		row, err := rec.rowOf(&m, d)
		switch {
		case err == nil && row != nil:
			return row, ""
		case err != nil:
			why = fmt.Sprintf("%s: %v", Printable(m.name), err)
		}
	}
	return nil, why
}

// rowOf returns the frame of the interpreter in a file, or nil if it is not in there.
func (rec *recording) rowOf(m *fileMap, d *dump) (*jitcode.FrameRow, error) {
	fd, err := unix.Open(m.name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil // the interpreter may be elsewhere
	}
	file, err := regularFile(fd, m.name)
	if err != nil {
		return nil, nil
	}
	defer file.Close()
	f, err := elf.NewFile(file)
	if err != nil {
		return nil, nil
	}
	symbols, _ := f.DynamicSymbols()
	for _, y := range symbols {
		if y.Name != interpreter || y.Section == elf.SHN_UNDEF {
			continue
		}
		if !rec.isRecorded(m, file, f) {
			return nil, fmt.Errorf("it is not the file that was recorded; its %s may be another", interpreter)
		}
		s := f.Section(".eh_frame")
		if s == nil || s.Size > maxFrames {
			return nil, fmt.Errorf("it has no unwind tables that could be read")
		}
		data, err := s.Data()
		if err != nil {
			return nil, err
		}
		return d.source.HostFrame(data, s.Addr, y.Value)
	}
	return nil, nil
}

// deriveFrames sees to it that functions of a dump get unwind tables.
func deriveFrames(rec *recording, d *dump, opts *Options, sum *Summary) {
	if opts.NoCFI {
		return
	}
	host, why := rec.hostFrame(d)
	if why != "" && rec.copiesStacks() {
		sum.Dumps[d.number].Frames = fmt.Sprintf("its functions run in the frame of %s, and perf cannot unwind them: %s", interpreter, why)
	}
	d.source.DeriveFrames(host)
}
