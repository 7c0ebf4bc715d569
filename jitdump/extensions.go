package jitdump

import (
	"github.com/jitinject/jitinject/internal/wire"
)

// A Tier is a SAMPLY_JIT_TIER: the name and color of a tier of the compiler.
type Tier struct {
	Number uint32 `show:"tier"` // 1 to 255; functions' flags refer to it
	Color  Color  `show:"color,names:grey|transparent|purple|green|orange|yellow|light blue|blue|brown|magenta|red|light red|dark grey"`
	Name   []byte `show:"name,name"`
	Extra  []byte // padding after the name
}

// A Color is an index into the list of colors of docs/formats/jitdump-extensions.txt.
type Color uint32

// The colors that tiers can have.
const (
	Grey Color = iota
	Transparent
	Purple
	Green
	Orange
	Yellow
	LightBlue
	Blue
	Brown
	Magenta
	Red
	LightRed
	DarkGrey
)

// NewTier returns a record, padded to a multiple of 4 bytes.
func NewTier(number uint8, color Color, name string) *Tier {
	return &Tier{Number: uint32(number), Color: color, Name: []byte(name), Extra: make([]byte, -(2*4+len(name)+1)&3)}
}

// Tier decodes a SAMPLY_JIT_TIER body.
func (r *Raw) Tier() (Tier, error) {
	c := r.cursor()
	t := Tier{Number: c.U32("tier")}
	if t.Number == 0 || t.Number > 255 {
		c.Bad("tier", "is %d; tiers have numbers from 1 to 255", t.Number)
	}
	t.Color = Color(c.U32("color"))
	t.Name = c.CString("name")
	t.Extra = c.Rest()
	if len(t.Extra) > 7 || !allZero(t.Extra) {
		c.Fail("name", "is followed by %d bytes that are no padding", len(t.Extra))
	}
	return t, c.Err()
}

func (t *Tier) id() RecordID { return IDTier }
func (t *Tier) size() int    { return 2*4 + len(t.Name) + 1 + len(t.Extra) }
func (t *Tier) append(b *wire.Buffer) {
	b.U32(t.Number)
	b.U32(uint32(t.Color))
	b.Bytes(t.Name)
	b.U8(0)
	b.Bytes(t.Extra)
}

// An EmbeddedSource is a SAMPLY_EMBEDDED_SOURCE_FILE: the text of a file for the lines of later
// functions.
type EmbeddedSource struct {
	Name  []byte `show:"name,name"` // as in lists of files
	Text  []byte `show:"text_size,len"`
	Extra []byte // padding
}

// NewEmbeddedSource returns a record, padded to a multiple of 8 bytes. It keeps text.
func NewEmbeddedSource(name string, text []byte) *EmbeddedSource {
	return &EmbeddedSource{Name: []byte(name), Text: text, Extra: make([]byte, -(8+len(name)+1+len(text))&7)}
}

// EmbeddedSource decodes a SAMPLY_EMBEDDED_SOURCE_FILE body.
func (r *Raw) EmbeddedSource() (EmbeddedSource, error) {
	c := r.cursor()
	size := c.U64("size")
	s := EmbeddedSource{Name: c.CString("name")}
	if len(s.Name) == 0 {
		c.Bad("name", "is empty")
	}
	s.Text = c.Bytes("text", size)
	s.Extra = c.Rest()
	if len(s.Extra) > 7 {
		c.Fail("text", "is followed by %d bytes; up to 7 pad the record", len(s.Extra))
	}
	return s, c.Err()
}

// maxSourceName is above the length of all file names.
const maxSourceName = 64 << 10

func (s *EmbeddedSource) id() RecordID { return IDEmbeddedSource }
func (s *EmbeddedSource) size() int    { return 8 + len(s.Name) + 1 + len(s.Text) + len(s.Extra) }
func (s *EmbeddedSource) append(b *wire.Buffer) {
	b.U64(uint64(len(s.Text)))
	b.Bytes(s.Name)
	b.U8(0)
	b.Bytes(s.Text)
	b.Bytes(s.Extra)
}
