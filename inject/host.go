package inject

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// The frames that traces of a JIT run in, where they have none of their own.

// interpreter is the function of PHP in whose frame its traces run.
const interpreter = "execute_ex"

// maxFrames bounds the unwind tables of a program that are read, in bytes.
const maxFrames = 64 << 20

// hostFrame returns the frame that traces of a dump run in, or nil if it has none, or
// nobody knows. Then it says why.
func (rec *recording) hostFrame(d *dump) (*jitcode.FrameRow, string) {
	tracer, ok := d.source.(source.Tracer)
	if !ok || !tracer.HasTraces() {
		return nil, ""
	}
	why := "the recording does not say which program runs them"
	seen := make(map[string]bool)
	for _, m := range rec.fileMapsOf(d.pid, d.latest()) {
		if m.name == "" || seen[m.name] {
			continue
		}
		seen[m.name] = true
		row, err := rec.rowOf(&m, tracer)
		switch {
		case err == nil && row != nil:
			return row, ""
		case err != nil:
			why = fmt.Sprintf("%s: %v", Printable(m.name), err)
		}
	}
	return nil, why
}

// latest returns the time of a dump's latest event.
func (d *dump) latest() (time uint64) {
	for i := range d.source.Scanned().Events {
		time = max(time, d.clock(d.source.Scanned().Events[i].Time))
	}
	return time
}

// copies returns the parts of files that a dump's process has mapped more than once.
func (rec *recording) copies(d *dump) (copies []source.Copy) {
	maps := rec.fileMapsOf(d.pid, d.latest())
	for i := range maps {
		for j := range maps {
			a, b := &maps[i], &maps[j]
			if i == j || a.name == "" || !a.same(b) || a.lo-a.off == b.lo-b.off {
				continue
			}
			lo, hi := max(a.off, b.off), min(a.off+a.hi-a.lo, b.off+b.hi-b.lo)
			if lo < hi && len(copies) < maxCopies {
				copies = append(copies, source.Copy{Lo: a.lo + lo - a.off, Hi: a.lo + hi - a.off, Home: b.lo + lo - b.off})
			}
		}
	}
	return copies
}

// maxCopies bounds the result of copies.
const maxCopies = 64

// rowOf returns the frame of the interpreter in a file, or nil if it is not in there.
func (rec *recording) rowOf(m *fileMap, d source.Tracer) (*jitcode.FrameRow, error) {
	file, f := openELF(m.name)
	if f == nil {
		return nil, nil // the interpreter may be elsewhere
	}
	defer file.Close()
	recorded := rec.isRecorded(m, file, f)
	for _, y := range symbolsOf(f, elf.SHT_DYNSYM) {
		if y.Name != interpreter || y.Section == elf.SHN_UNDEF {
			continue
		}
		if !recorded {
			return nil, fmt.Errorf("it is not the file that was recorded; its %s may be another", interpreter)
		}
		s := f.Section(".eh_frame")
		if s == nil || s.Size > maxFrames {
			return nil, errors.New("it has no unwind tables that could be read")
		}
		data, err := s.Data()
		if err != nil {
			return nil, err
		}
		return d.HostFrame(data, s.Addr, y.Value)
	}
	return nil, nil
}

// deriveFrames makes d derive unwind tables from code, as opts asks. alone says that each
// function has an object of its own. It records obstacles in the dump's summary.
func deriveFrames(rec *recording, d *dump, alone bool, opts *Options, sum *Summary) {
	if opts.CFI == CFINever || opts.CFI == CFIWhereUnwound && !rec.copiesStacks() {
		return
	}
	host, why := rec.hostFrame(d)
	d.source.DeriveFrames(source.Surroundings{Host: host, Copies: rec.copies(d)})
	switch {
	case !rec.copiesStacks():
	case !rec.knowsCode(d):
		sum.Dumps[d.number].Frames = "its log has no code to derive unwind tables from, and perf cannot unwind stacks through its functions: name a core dump with --code-from, or record with -g"
	case why != "":
		sum.Dumps[d.number].Frames = fmt.Sprintf("its functions run in the frame of %s, and perf cannot unwind them: %s", interpreter, why)
	case alone && !isTight(d.objects) && rec.isCrowded(d):
		sum.Dumps[d.number].Frames = "its functions lie close together, and perf 7 loses stacks through them: put the recording into a file, where they can share objects, or use --objects /tmp/jitted-NAME (any directory in /tmp that begins so)"
	}
}

// knowsCode reports whether the bytes of any function of a dump are known, outside of
// files: they are the same everywhere.
func (rec *recording) knowsCode(d *dump) bool {
	if d.bringsCode() {
		return true
	}
	p := rec.processes[d.pid]
	return slices.ContainsFunc(d.source.Scanned().Events, func(e jitcode.Event) bool {
		return (p == nil || !p.files.hold(e.Addr)) && d.hasCode(e.Function)
	})
}

// crowd is how close to each other functions may be that libdw still tells apart, mostly:
// the head of a file takes 128 bytes in front of its code, and the last bytes of a
// function are not where it is sampled.
const crowd = 16

// isCrowded reports whether many functions of a dump lie closer together than that.
// Those in files are left to them, mostly.
func (rec *recording) isCrowded(d *dump) bool {
	events := d.source.Scanned().Events
	if p := rec.processes[d.pid]; p != nil {
		events = slices.DeleteFunc(slices.Clone(events), func(e jitcode.Event) bool { return p.files.hold(e.Addr) })
	}
	ends := make([]uint64, len(events))
	for i := range events {
		ends[i] = events[i].Addr + events[i].Size
	}
	slices.Sort(ends)
	near := 0
	for i := range events {
		addr := events[i].Addr
		if n, _ := slices.BinarySearch(ends, addr+1); n > 0 && addr-ends[n-1] < crowd {
			near++
		}
	}
	return 4*near > len(events)
}
