package showj9

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/jitdump"
)

// Format is the format of captures.
var Format = show.Format{
	Show:       showCapture,
	Types:      Types,
	Directory:  &show.Directory{What: "with captures of OpenJ9's metadata, X.bin and X.json", Show: showCaptures},
	Neighbours: &show.Neighbours{Identify: j9meta.IsCapture, Explain: whyNoCapture, Once: j9meta.Named},
}

// whyNoCapture says what is wrong with a file that is called as one of a capture is.
func whyNoCapture(path string) error {
	if _, _, named := j9meta.CapturePaths(path); named {
		if _, err := j9meta.ReadCapture(path); err != nil {
			return fmt.Errorf("as a capture: %w", err)
		}
	}
	return nil
}

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

// showCaptures shows the captures of a directory one by one. Of those that could not be read at all it
// returns the first, when all others were shown.
func showCaptures(v *show.Viewer) error {
	bins, alone := capturesIn(v.Path)
	if len(bins) == 0 {
		return show.ErrOtherDirectory
	}
	var all show.Damaged
	var failed error
	shown, unread := false, 0
	for _, path := range bins {
		err := showOne(v, path)
		var damaged *show.Damaged
		var lost *show.LostOutput
		switch {
		case errors.As(err, &lost):
			return err
		case errors.As(err, &damaged):
			if all.Problems == 0 {
				all.First = fmt.Sprintf("%s: %s", filepath.Base(path), damaged.First)
			}
			all.Problems += damaged.Problems
		case errors.Is(err, show.ErrNoMatch):
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
			all.First = filepath.Base(alone[0]) + ": a capture needs a JSON file beside it"
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
		return show.ErrNoMatch
	}
	return nil
}

// showOne shows a capture. Of one that is no regular file the error says so: others would be followed,
// or waited for.
func showOne(v *show.Viewer, path string) error {
	if st, err := sys.Lstat(path); err == nil && !st.Mode().IsRegular() {
		if _, err := j9meta.ReadCapture(path); err != nil {
			return err
		}
	}
	return v.Another(path)
}

// What captures have besides sections.
const (
	MethodTable = "methods"
	codeType    = "code"
)

// Types are what captures are shown as.
var Types = func() (names []string) {
	for k := j9meta.ExceptionTable; k <= j9meta.Gap; k++ {
		names = append(names, k.String())
	}
	return append(names, inlineStacks, MethodTable, codeType)
}()

// showCapture shows metadata of OpenJ9 in a file of its own.
func showCapture(v *show.Viewer) error {
	c, err := j9meta.ReadCapture(v.Path)
	if err != nil {
		return err
	}
	o, f := v.Out, &v.Opts.Filter
	layout := j9meta.Proven(c.Metadata, c.Base, c.Layout)
	body, bad := j9meta.DecodeSome(c.Metadata, c.Base, layout)
	b := Body{Decoded: body, Metadata: c.Metadata, Methods: MethodsOf(javaMethods(c.Methods))}
	b.View(v, *f)
	chosen := f.MatchesPID(c.PID) && f.MatchesTime(c.Time, c.HasTime)
	code := chosen && f.MatchesType(codeType) && b.anyCodeChosen()
	if v.Opts.Disassemble && code && len(c.Code) == 0 && len(c.ColdCode) == 0 && len(c.CodeErrors) == 0 {
		return fmt.Errorf("the capture has no code to disassemble; leave out -d, or name a file with it as \"code\" in %s", filepath.Base(c.JSONPath))
	}
	v.Path = c.Path // that offsets are in
	v.Begun(j9meta.FormatName)
	o.Str("json", []byte(filepath.Base(c.JSONPath)))
	o.Hex("base", c.Base)
	o.Hex("startPC", c.StartPC)
	o.Num("pointer_size", uint64(c.Layout.PointerSize))
	o.Word("order", show.OrderName(c.Layout.Order))
	if c.Layout.Machine != 0 {
		o.Named("elf_mach", uint64(c.Layout.Machine), show.MachineName(uint32(c.Layout.Machine)))
	}
	if c.PID != 0 {
		o.Num("pid", uint64(c.PID))
	}
	if c.HasTime {
		o.Time("time", c.Time)
	}
	o.End()
	if !chosen {
		return nil
	}
	if len(c.Methods) > 0 && f.MatchesType(MethodTable) && !f.IsPicky() {
		o.Begin(show.Item{Offset: -1, Type: MethodTable, Size: -1})
		ShowMethods(v, javaMethods(c.Methods))
		o.End()
	}
	sections := b.Sections()
	if layout != c.Layout && len(sections) > 0 {
		v.Problem(-1, fmt.Errorf("%s says that the struct has %d bytes (epoch), and its sections say %d, which is used", filepath.Base(c.JSONPath), c.Layout.HeaderSize, layout.HeaderSize))
	}
	for _, s := range sections {
		o.Begin(show.Item{Offset: s.Offset, Type: s.Name, Size: s.Size})
		b.Contents(&s)
		if v.Opts.Hex && s.Size > 0 {
			o.Data("hex", b.bytes(&s), s.Offset)
		}
		o.End()
	}
	if v.Opts.Disassemble && code {
		captureCode(v, c, &b)
	}
	if code {
		for _, err := range c.CodeErrors {
			v.Problem(-1, err)
		}
	}
	switch {
	case bad != nil:
		v.Problem(show.OffsetOf(bad, -1), bad)
	case body.Header.StartPC != c.StartPC:
		v.Problem(-1, fmt.Errorf("startPC is %#x in the metadata, and %#x in %s: they are of different bodies, or its pointer_size or byte_order is wrong",
			body.Header.StartPC, c.StartPC, filepath.Base(c.JSONPath)))
	}
	return nil
}

// javaMethods are methods as records have them.
func javaMethods(list []j9meta.CaptureMethod) []jitdump.JavaMethod {
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
