package metadata

import (
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/jitdump"
)

// Length limits for names of Java methods and their files. A string of a class file has up to 65535
// bytes, and a name consists of three. A record needs each string only once for any number of
// methods. So names are cut while they are made.

const (
	// maxBodyNames is the total length of a body's names and files, in bytes. Beyond it, further
	// names are cut to maxShortName.
	maxBodyNames = 2 << 20
	maxShortName = 200

	// maxListingName bounds the name of a listing, in bytes. With an address and the extension, it
	// must fit into the 255 bytes of file systems.
	maxListingName = 200

	// maxNameShown bounds the names in a listing, in bytes.
	maxNameShown = 500
)

// JavaName returns the name of a record's method, as in functions.
func JavaName(m *jitdump.JavaMethod) string { return methodName(m, jitcode.MaxOriginName) }

// JavaFile returns the name of a method's file, as in functions.
func JavaFile(m *jitdump.JavaMethod) string { return methodFile(m, jitcode.MaxOriginName) }

// nameLimit returns the maximum length of the next name, in bytes.
func (t *tree) nameLimit() int {
	if t.named > maxBodyNames {
		return maxShortName
	}
	return jitcode.MaxOriginName
}

// methodName returns a method's name in the JVMTI agent's form, at most limit bytes:
// java.lang.String.equals(Ljava/lang/Object;)Z.
func methodName(m *jitdump.JavaMethod, limit int) string {
	return joinedName(limit, m.Class, []byte("."), m.Name, m.Signature)
}

// methodFile returns the name of a method's source file, at most limit bytes. If that is unknown,
// it returns the name of the class file, as the agent does.
func methodFile(m *jitdump.JavaMethod, limit int) string {
	if len(m.File) == 0 {
		return joinedName(limit, nil, m.Class, []byte(".class"))
	}
	return joinedName(limit, nil, m.File)
}

// sourceFile is methodFile with strings that methods share.
func (t *tree) sourceFile(m *jitdump.JavaMethod) string {
	file := methodFile(m, t.nameLimit())
	if same, ok := t.files[file]; ok {
		return same
	}
	t.files[file] = file
	t.named += len(file)
	return file
}

// joinedName joins strings of a class file to a name of at most limit bytes. The first string is a
// class name: its slashes become dots.
func joinedName(limit int, parts ...[]byte) string {
	size, sum := 0, uint32(0)
	for _, p := range parts {
		size += len(p)
	}
	var b strings.Builder
	for i, p := range parts {
		if size > limit {
			sum = crc32.Update(sum, crc32.IEEETable, p)
			p = p[:min(len(p), 2*limit)] // in UTF-8 it has at least two thirds of that length
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

// shortened returns a name. If it has more than limit bytes, it returns its beginning with a mark.
func shortened(name []byte, limit int) string {
	if len(name) <= limit {
		return string(name)
	}
	return marked(name, limit, crc32.ChecksumIEEE(name))
}

// marked cuts a name to limit bytes, and appends a checksum. The checksum distinguishes it from
// others with the same beginning.
func marked(name []byte, limit int, sum uint32) string {
	mark := fmt.Sprintf("...[%08x]", sum)
	return string(jitcode.Beginning(name, limit-len(mark))) + mark
}
