package plan

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// Traces of a JIT that have no frame of their own run in the frame of the interpreter.

// interpreter is the function of PHP that has the frame of its traces.
const interpreter = "execute_ex"

// maxFrames bounds the unwind tables of a program that are read, in bytes.
const maxFrames = 64 << 20

// interpreterFrame returns the frame that traces of a dump run in. It is nil if the dump has no
// traces, or if the frame is unknown. In the latter case, the string says why.
func interpreterFrame(rec *recording.Recording, d *model.Dump) (*jitcode.FrameRow, string) {
	tracer, ok := d.Source.(source.Tracer)
	if !ok || !tracer.HasTraces() {
		return nil, ""
	}
	why := "the recording does not say which program runs them"
	seen := make(map[string]bool)
	for _, m := range rec.FileMapsOf(d.PID, latest(d)) {
		if m.Name == "" || seen[m.Name] {
			continue
		}
		seen[m.Name] = true
		row, err := rowOf(rec, &m, tracer)
		switch {
		case err == nil && row != nil:
			return row, ""
		case err != nil:
			why = fmt.Sprintf("%s: %v", quote.Printable(m.Name), err)
		}
	}
	return nil, why
}

// latest returns the time of a dump's latest event.
func latest(d *model.Dump) (time uint64) {
	for i := range d.Source.Scanned().Events {
		time = max(time, d.Clock(d.Source.Scanned().Events[i].Time))
	}
	return time
}

// copies returns the parts of files that a dump's process has mapped more than once, at most
// maxCopies.
func copies(histories *recording.FileHistories, d *model.Dump) (copies []source.Copy) {
	maps := histories.Program(d.PID, latest(d))
	pairs := 0
	maps.All(func(a *recording.FileMap) bool {
		if a.Name == "" {
			return true
		}
		maps.EachPart(a, a.Off, a.Hi-a.Lo, func(b *recording.FileMap) bool {
			lo, hi := max(a.Off, b.Off), min(a.Off+a.Hi-a.Lo, b.Off+b.Hi-b.Lo)
			if a.Lo-a.Off != b.Lo-b.Off && lo < hi {
				copies = append(copies, source.Copy{Lo: a.Lo + lo - a.Off, Hi: a.Lo + hi - a.Off, Home: b.Lo + lo - b.Off})
			}
			pairs++
			return len(copies) < maxCopies && pairs < maxPairs
		})
		return len(copies) < maxCopies && pairs < maxPairs
	})
	return copies
}

const (
	// maxCopies bounds the result of copies.
	maxCopies = 64
	// maxPairs bounds how many pairs of mappings are compared: a program may map a file at
	// one address again and again.
	maxPairs = 1 << 20
)

// rowOf returns the frame of the interpreter in a file, or nil if the file does not have the
// interpreter. It fails if the file is not the recorded one, or has no readable unwind tables.
func rowOf(rec *recording.Recording, m *recording.FileMap, d source.Tracer) (*jitcode.FrameRow, error) {
	file, f, err := recording.OpenELF(m.Name)
	rec.NoteUnread(m.Name, err)
	if f == nil {
		return nil, err // without an error, another file may have the interpreter
	}
	defer file.Close()
	defer func() { rec.NoteUnread(m.Name, file.Failed()) }()
	recorded := rec.IsRecorded(m, file, f)
	if err := file.Failed(); err != nil {
		return nil, err
	}
	for _, y := range recording.SymbolsOf(f, elf.SHT_DYNSYM) {
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
		return d.InterpreterFrame(data, s.Addr, y.Value)
	}
	return nil, nil
}

// DeriveFrames makes d derive unwind tables from code, as opts asks. It returns what may prevent perf
// from unwinding stacks through d's functions, or "".
func (p *Planner) DeriveFrames(d *model.Dump, opts *config.Options) (obstacle string) {
	rec := p.rec
	if opts.CFI == config.CFINever || opts.CFI == config.CFIWhereUnwound && !rec.CopiesStacks() {
		return ""
	}
	host, why := interpreterFrame(rec, d)
	d.Source.DeriveFrames(source.Surroundings{Interpreter: host, Copies: copies(p.files.histories, d)})
	switch {
	case !rec.CopiesStacks():
	case !knowsCode(rec, d): // then perf follows frame pointers, which .NET and V8 always keep
		if d.Source.Traits().Tidied {
			return "it has no code to derive unwind tables from: perf finds callers where its functions keep frame pointers; if stacks end in them, name a core dump with " + report.Mentioned("CodeFrom", "") + " or, while the process runs, the process with " + report.Mentioned("Live", "PID")
		}
		return "its log has no code to derive unwind tables from: perf finds callers where its functions keep frame pointers; if stacks end in them, name a core dump with " + report.Mentioned("CodeFrom", "")
	case why != "":
		return fmt.Sprintf("its functions run in the frame of %s, and perf cannot unwind them: %s", interpreter, why)
	}
	return ""
}

// knowsCode reports whether the bytes of any function of a dump are known. Functions in files do
// not count: their bytes are the same everywhere.
func knowsCode(rec *recording.Recording, d *model.Dump) bool {
	if codebytes.BringsCode(d) {
		return true
	}
	p := rec.Processes[d.PID]
	return slices.ContainsFunc(d.Source.Scanned().Events, func(e jitcode.Event) bool {
		return (p == nil || !p.Files.Hold(e.Addr)) && codebytes.HasCode(d, e.Function)
	})
}
