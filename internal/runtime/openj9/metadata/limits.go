package metadata

import (
	"fmt"
	"hash/crc32"
	"strings"
	"unicode/utf8"

	"github.com/jitinject/jitinject/jitdump"
)

// MaxOriginName is how much of the name of an inlined function is kept. Every call of
// every function repeats it.
const MaxOriginName = 8 << 10

// Names of Java methods and of their files, and how long they get. A string of a class file
// has up to 65535 bytes, three of them make a name, and a record needs each only once for as
// many methods as it likes: so names are cut while they are made.

const (
	// maxBodyNames is how many bytes the names and files of a body have before more of them
	// are cut to maxShortName.
	maxBodyNames = 2 << 20
	maxShortName = 200

	// maxListingName bounds the name of a listing, which file systems let have 255 bytes
	// with an address and the extension.
	maxListingName = 200

	// maxNameShown bounds the names in a listing.
	maxNameShown = 500
)

// nameLimit is how long the next name may be.
func (t *tree) nameLimit() int {
	if t.named > maxBodyNames {
		return maxShortName
	}
	return MaxOriginName
}

// methodName returns a method's name as the JVMTI agent gives it, of at most limit bytes:
// java.lang.String.equals(Ljava/lang/Object;)Z.
func methodName(m *jitdump.JavaMethod, limit int) string {
	return joinedName(limit, m.Class, []byte("."), m.Name, m.Signature)
}

// methodFile returns the name of the source file of a method, or as the agent does, that of
// its class file if the source's is not known, of at most limit bytes.
func methodFile(m *jitdump.JavaMethod, limit int) string {
	if len(m.File) == 0 {
		return joinedName(limit, nil, m.Class, []byte(".class"))
	}
	return joinedName(limit, nil, m.File)
}

// sourceFile is javaFile, which methods share.
func (t *tree) sourceFile(m *jitdump.JavaMethod) string {
	file := methodFile(m, t.nameLimit())
	if same, ok := t.files[file]; ok {
		return same
	}
	t.files[file] = file
	t.named += len(file)
	return file
}

// joinedName joins strings of a class file to a name of at most limit bytes. The first is
// the name of a class, in which slashes become dots.
func joinedName(limit int, parts ...[]byte) string {
	size, sum := 0, uint32(0)
	for _, p := range parts {
		size += len(p)
	}
	var b strings.Builder
	for i, p := range parts {
		if size > limit {
			sum = crc32.Update(sum, crc32.IEEETable, p)
			p = p[:min(len(p), 2*limit)] // in UTF-8 it has at least two thirds of that
		}
		text := Utf8Of(p)
		if i == 0 {
			text = strings.ReplaceAll(text, "/", ".")
		}
		b.WriteString(text)
	}
	if size <= limit {
		return shortened([]byte(b.String()), limit)
	}
	return marked([]byte(b.String()), limit, sum)
}

// shortened returns a name, or its beginning with a mark if it has more than limit bytes.
func shortened(name []byte, limit int) string {
	if len(name) <= limit {
		return string(name)
	}
	return marked(name, limit, crc32.ChecksumIEEE(name))
}

// marked cuts a name that has been too long, and puts a checksum behind it that tells it
// from others that begin alike.
func marked(name []byte, limit int, sum uint32) string {
	mark := fmt.Sprintf("...[%08x]", sum)
	return string(Beginning(name, limit-len(mark))) + mark
}

// Beginning returns at most limit bytes of a text, and does not cut its characters.
func Beginning(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	n := limit
	for n > 0 && limit-n < utf8.UTFMax-1 && !utf8.RuneStart(text[n]) {
		n--
	}
	if !utf8.RuneStart(text[n]) {
		n = limit // it is not in UTF-8
	}
	return text[:n]
}
