package showj9

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
	"github.com/jitinject/jitinject/internal/show"
)

// Format is the format of captures.
var Format = show.Format{Named: j9meta.IsCapturePair, Show: showCapture, Types: append(Types, "methods")}

// showCapture shows metadata of OpenJ9 in a file of its own.
func showCapture(v *show.Viewer) error {
	c, err := j9meta.ReadCapture(v.Path)
	if err != nil {
		return err
	}
	if err := v.NoCode("OpenJ9's metadata"); err != nil {
		return err
	}
	v.Path, v.Raw = c.Path, bytes.NewReader(c.Metadata) // that offsets are in
	v.Begun(j9meta.FormatName)
	v.Fields(v.Out, &struct {
		JSON    string `show:"json"`
		Base    uint64 `show:"base,hex"`
		StartPC uint64 `show:"startPC,hex"`
		Pointer uint64 `show:"pointer_size"`
		Order   string `show:"order"`
		Machine uint16 `show:"elf_mach,machine,opt"`
		PID     uint32 `show:"pid,opt"`
		Time    uint64 `show:"time,time,opt"`
	}{filepath.Base(c.JSONPath), c.Base, c.StartPC, uint64(c.Layout.PointerSize), show.OrderName(c.Layout.Order), uint16(c.Layout.Machine), c.PID, c.Time}, nil)
	v.Out.End()
	if f := &v.Opts.Filter; !f.MatchesPID(c.PID) || !f.MatchesTime(c.Time, c.HasTime) {
		return nil
	}
	methods := openj9.JavaMethods(c)
	if len(methods) > 0 {
		v.Summary(show.Item{Offset: -1, Type: "methods", Size: -1}, &methodTable{methods})
	}
	decoded, bad := j9meta.Decode(c.Metadata, c.Base, c.Layout)
	b := Body{Body: decoded, Methods: methods}
	b.Show(v, show.Item{})
	switch {
	case bad != nil:
		v.Problem(show.OffsetOf(bad, -1), bad)
	case decoded.Header.StartPC != c.StartPC:
		v.Problem(-1, fmt.Errorf("startPC is %#x in the metadata, and %#x in %s: they are of different bodies, or its machine is wrong",
			decoded.Header.StartPC, c.StartPC, filepath.Base(c.JSONPath)))
	}
	return nil
}
