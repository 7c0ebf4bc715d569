package show

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/jitdump"
)

// Files returns the files to show where some are named: each capture once, even if both its files are
// named, and no files with code that a capture among them names, which is shown with it.
func Files(named []string) []string { return j9meta.Named(named) }

// capturesIn returns the captures in a directory that perf record did not make, and metadata that
// lacks its JSON.
func capturesIn(path string) (bins, alone []string) {
	for _, bin := range j9meta.NamedIn(path) {
		if j9meta.IsCapturePair(bin) {
			bins = append(bins, bin)
		} else {
			alone = append(alone, bin)
		}
	}
	return bins, alone
}

// showCaptures shows captures one by one. Of those that could not be read at all it
// returns the first, when all others were shown.
func showCaptures(w io.Writer, bins, alone []string, opts *Options) error {
	var all Damaged
	var failed error
	shown, unread := false, 0
	for _, path := range bins {
		err := showOne(w, path, opts)
		var damaged *Damaged
		var lost *LostOutput
		switch {
		case errors.As(err, &lost):
			return err
		case errors.As(err, &damaged):
			if all.Problems == 0 {
				all.First = fmt.Sprintf("%s: %s", filepath.Base(path), damaged.First)
			}
			all.Problems += damaged.Problems
		case errors.Is(err, ErrNoMatch):
			continue
		case err != nil:
			if unread++; failed == nil {
				failed = fmt.Errorf("%s: %w", filepath.Base(path), err)
			}
		}
		shown = shown || err == nil || damaged != nil
	}
	if len(alone) > 0 {
		if all.Problems == 0 {
			all.First = filepath.Base(alone[0]) + ": there is no JSON beside it that would make it a capture"
		}
		all.Problems += len(alone)
	}
	switch {
	case failed != nil && all.Problems > 0 || unread > 1:
		return fmt.Errorf("%w (and %d more problems)", failed, all.Problems+unread-1)
	case failed != nil:
		return failed
	case all.Problems > 0:
		return &all
	case !shown:
		return ErrNoMatch
	}
	return nil
}

// showOne shows a capture. Of one that is no regular file the error says so: others would be followed,
// or waited for.
func showOne(w io.Writer, path string, opts *Options) error {
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		if _, err := j9meta.ReadCapture(path); err != nil {
			return err
		}
	}
	return File(w, path, opts)
}

// What captures have besides sections.
const (
	j9MethodTable = "methods"
	j9Code        = "code"
)

// j9Types are what captures are shown as.
var j9Types = func() (names []string) {
	for k := j9meta.ExceptionTable; k <= j9meta.Gap; k++ {
		names = append(names, k.String())
	}
	return append(names, j9InlineStacks, j9MethodTable, j9Code)
}()

// showCapture shows metadata of OpenJ9 in a file of its own.
func showCapture(v *viewer) error {
	c, err := j9meta.ReadCapture(v.path)
	if err != nil {
		return err
	}
	o, f := v.out, &v.opts.Filter
	layout := j9meta.Proven(c.Metadata, c.Base, c.Layout)
	body, bad := j9meta.DecodeSome(c.Metadata, c.Base, layout)
	b := j9Body{out: o, body: body, blob: c.Metadata, methods: recordMethods(captureJavaMethods(c.Methods)), filter: f}
	chosen := f.pid(c.PID) && f.time(c.Time, c.HasTime)
	code := chosen && f.typed(j9Code) && b.anyCodeChosen()
	if v.opts.Disassemble && code && len(c.Code) == 0 && len(c.ColdCode) == 0 && len(c.CodeErrors) == 0 {
		return fmt.Errorf("the capture has no code to disassemble; leave out -d, or name a file with it as \"code\" in %s", filepath.Base(c.JSONPath))
	}
	v.path = c.Path // that offsets are in
	v.begun(j9meta.FormatName)
	o.str("json", []byte(filepath.Base(c.JSONPath)))
	o.hex("base", c.Base)
	o.hex("startPC", c.StartPC)
	o.num("pointer_size", uint64(c.Layout.PointerSize))
	o.word("order", orderName(c.Layout.Order))
	if c.Layout.Machine != 0 {
		o.named("elf_mach", uint64(c.Layout.Machine), machineName(uint32(c.Layout.Machine)))
	}
	if c.PID != 0 {
		o.num("pid", uint64(c.PID))
	}
	if c.HasTime {
		o.time("time", c.Time)
	}
	o.end()
	if !chosen {
		return nil
	}
	if len(c.Methods) > 0 && f.typed(j9MethodTable) && !f.picky() {
		o.begin(item{offset: -1, typ: j9MethodTable, size: -1})
		v.javaMethods(captureJavaMethods(c.Methods))
		o.end()
	}
	sections := b.sections()
	if layout != c.Layout && len(sections) > 0 {
		v.problem(-1, fmt.Errorf("%s says that the struct has %d bytes (epoch), and its sections say %d, which counts", filepath.Base(c.JSONPath), c.Layout.HeaderSize, layout.HeaderSize))
	}
	for _, s := range sections {
		o.begin(item{offset: s.offset, typ: s.name, size: s.size})
		b.contents(&s)
		if v.opts.Hex && s.size > 0 {
			o.data("hex", b.bytes(&s), s.offset)
		}
		o.end()
	}
	if v.opts.Disassemble && code {
		v.captureCode(c, &b)
	}
	if code {
		for _, err := range c.CodeErrors {
			v.problem(-1, err)
		}
	}
	switch {
	case bad != nil:
		v.problem(offsetOf(bad, -1), bad)
	case body.Header.StartPC != c.StartPC:
		v.problem(-1, fmt.Errorf("startPC is %#x in the metadata, and %#x in %s: they are of different bodies, or its pointer_size or byte_order is wrong",
			body.Header.StartPC, c.StartPC, filepath.Base(c.JSONPath)))
	}
	return nil
}

// captureJavaMethods are methods as records have them.
func captureJavaMethods(list []j9meta.CaptureMethod) []jitdump.JavaMethod {
	methods := make([]jitdump.JavaMethod, len(list))
	for i := range list {
		m := &list[i]
		methods[i] = jitdump.JavaMethod{Method: m.Method, Class: []byte(m.Class), Name: []byte(m.Name), Signature: []byte(m.Signature), File: []byte(m.File)}
		if m.User {
			methods[i].Flags = jitdump.UserFunction
		}
		for _, l := range m.Lines {
			methods[i].Lines = append(methods[i].Lines, jitdump.JavaLine{ByteCodeIndex: l.ByteCodeIndex, Line: l.Line})
		}
	}
	return methods
}
