package elfgen

import (
	"debug/elf"

	"github.com/jitinject/jitinject/internal/wire"
)

// NT_GNU_BUILD_ID, a note type of the GNU name space.
const noteBuildID = 3

// BuildIDNote returns the section .note.gnu.build-id with the given id. b is
// where its content goes and stays; its byte order must be the target's.
func BuildIDNote(b *wire.Buffer, id []byte) Section {
	at := b.Len()
	b.U32(4) // of the name with its NUL
	b.U32(uint32(len(id)))
	b.U32(noteBuildID)
	b.CString("GNU")
	b.Bytes(id)
	return Section{Name: ".note.gnu.build-id", Type: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Align: 4, Data: b.Data[at:]}
}
