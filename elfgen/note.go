package elfgen

import (
	"debug/elf"
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
)

// noteBuildID is NT_GNU_BUILD_ID, a note type of the GNU name space.
const noteBuildID = 3

// BuildIDNote returns the section .note.gnu.build-id with the given id. Its
// content is appended to dst, in the target's byte order.
func BuildIDNote(dst []byte, order binary.ByteOrder, id []byte) Section {
	b := wire.AppendTo(dst, order)
	b.U32(4) // of the name with its NUL
	b.U32(uint32(len(id)))
	b.U32(noteBuildID)
	b.CString("GNU")
	b.Bytes(id)
	return Section{Name: ".note.gnu.build-id", Type: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Align: 4, Data: b.Data[len(dst):]}
}
