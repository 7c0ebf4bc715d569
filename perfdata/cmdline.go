package perfdata

import (
	"bytes"
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
)

// Cmdline decodes the content of FeatureCmdline: the command line of perf record, with that of the
// program that it started [perf.data-file-format.txt, HEADER_CMDLINE]:
//
//	u32 nr; struct { u32 len; char string[len]; } of each, with a NUL and padding
//
// Of damaged content it returns the part before the damage.
func Cmdline(order binary.ByteOrder, content []byte) (args []string) {
	c := wire.NewCursor(FormatName, "CMDLINE", content, order, 0)
	for n := c.U32("nr"); n > 0; n-- {
		arg := c.Bytes("string", uint64(c.U32("len")))
		if c.Err() != nil {
			break
		}
		if end := bytes.IndexByte(arg, 0); end >= 0 {
			arg = arg[:end]
		}
		args = append(args, string(arg))
	}
	return args
}

// Text decodes the content of a feature that is one string, such as FeatureArch. It returns "" for
// a truncated string.
func Text(order binary.ByteOrder, content []byte) string {
	c := wire.NewCursor(FormatName, "feature", content, order, 0)
	text := c.Bytes("string", uint64(c.U32("len")))
	if c.Err() != nil {
		return ""
	}
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	return string(text)
}
