package unwind

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/source"
)

// Traces of a JIT that have no frame of their own run in the frame of the interpreter.

// maxFrames bounds the unwind tables of a program that are read, in bytes.
const maxFrames = 64 << 20

// interpreterFrame returns the frame that traces of a dump run in. It is nil if the dump has no traces, or if
// the error says why the frame is unknown. interpreter is the function that has the frame.
func interpreterFrame(rec *recording.Recording, d *model.Dump) (row *jitcode.FrameRow, interpreter string, why error) {
	tracer, ok := d.Source.(source.Tracer)
	if ok {
		interpreter = tracer.Interpreter()
	}
	if interpreter == "" {
		return nil, "", nil
	}
	why = errors.New("the recording does not say which program runs them")
	seen := make(map[string]bool)
	for _, m := range rec.FileMapsOf(d.PID, codebytes.LastTime(d)) {
		if m.Name == "" || seen[m.Name] {
			continue
		}
		seen[m.Name] = true
		row, err := rowOf(rec, &m, tracer, interpreter)
		switch {
		case err == nil && row != nil:
			return row, interpreter, nil
		case err != nil:
			why = fmt.Errorf("%s: %w", quote.Printable(m.Name), err)
		}
	}
	return nil, interpreter, why
}

// rowOf returns the frame of the interpreter in a file, or nil if the file does not have the
// interpreter. It fails if the file is not the recorded one, or has no readable unwind tables.
func rowOf(rec *recording.Recording, m *recording.FileMap, d source.Tracer, interpreter string) (*jitcode.FrameRow, error) {
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
	for y := range f.Symbols(elf.SHT_DYNSYM) {
		if y.Name() != interpreter || y.Section == elf.SHN_UNDEF {
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
