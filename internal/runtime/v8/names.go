package v8

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// A codeName has the parts of the name of a function's code in the log: the function's name, a
// space, the script's URL, and ":LINE:COLUMN". Only the URL is escaped.
type codeName struct {
	function     int    // length of the function's name, in bytes
	line, column uint32 // where the function begins in the script's file; 0 if the name has no place
}

// noURL is the URL of a script that has none. In names of code it is "".
const noURL = "<unknown>"

// splitName splits the name of code. The script decides where its URL begins: both names may have
// spaces. Without a script, or if the name is of another script, it is after the last space.
func splitName(name []byte, s *script) (n codeName) {
	before, line, column, ok := v8log.CutPlace(name)
	if !ok {
		return codeName{}
	}
	n = codeName{len(before), line, column}
	if s != nil {
		if n.cut(before, s.logged) || s.logged == noURL && n.cut(before, "") {
			return n
		}
	}
	if i := bytes.LastIndexByte(before, ' '); i >= 0 {
		n.function = i
	}
	return n
}

// cut finds the function's name if the URL follows it.
func (n *codeName) cut(before []byte, url string) bool {
	i := len(before) - len(url) - 1
	if i < 0 || before[i] != ' ' || string(before[i+1:]) != url {
		return false
	}
	n.function = i
	return true
}

// maxKey bounds the bytes of a name that count: dumps cut long names, V8 11 after 512 bytes.
const maxKey = 256

var seed = maphash.MakeSeed()

// A nameKey hashes the beginning of a name, without characters beyond ASCII: URLs have different
// encodings in the two files.
type nameKey struct {
	b [maxKey]byte
	n int
}

func (k *nameKey) add(c uint16) {
	if c < 0x80 && k.n < maxKey {
		k.b[k.n] = byte(c)
		k.n++
	}
}

// regExp begins the names of regular expressions. V8 15 spells these in its dump as no log does, with their flags:
// only their places and times are compared.
const regExp = "RegExp"

func (k *nameKey) sum() uint64 { return maphash.Bytes(seed, k.b[:k.n]) }

// dumpKey returns the hash of a name in a dump: tag, colon, tier and the name of code.
func dumpKey(name []byte) uint64 {
	var k nameKey
	if bytes.HasPrefix(name, []byte(regExp)) {
		name = name[:len(regExp)]
	}
	for _, c := range name {
		k.add(uint16(c))
	}
	return k.sum()
}

// logKey is dumpKey for such a name of the log, which is escaped from a byte on.
func logKey(name []byte, escaped int) uint64 {
	var k nameKey
	for _, c := range name[:escaped] {
		k.add(uint16(c))
	}
	v8log.EachUnit(name[escaped:], k.add)
	return k.sum()
}

// maxNames bounds the names that are remembered, and maxNameBytes their size in bytes. The functions
// of one description have names of at most maxNameBytes, too.
const (
	maxNames     = 10000
	maxNameBytes = 4 << 20
)

// name returns the name of a function.
func (t *Trees) name(fn int32) (string, error) {
	if t.named != t.x || len(t.names) >= maxNames || t.nameBytes >= maxNameBytes {
		t.named, t.names, t.nameBytes = t.x, make(map[int32]string), 0
	}
	name, ok := t.names[fn]
	if !ok {
		var err error
		if name, err = t.x.readName(fn); err != nil {
			return "", err
		}
		t.names[fn] = name
		t.nameBytes += len(name)
	}
	return name, nil
}

// listName returns the name of a function for the description. After an error, which it keeps in
// t.err, it returns "".
func (t *Trees) listName(fn int32) []byte {
	if t.err != nil {
		return nil
	}
	name, err := t.name(fn)
	if t.listBytes += len(name); err == nil && t.listBytes > maxNameBytes {
		err = fmt.Errorf("%s: functions that are inlined into one have names of more than %d bytes", v8log.FormatName, maxNameBytes)
	}
	t.err = err
	return []byte(name)
}

// Any number of functions may inline one with a long name, or be of one script with a long URL, and the object of
// each has these names. mostNames bounds all of them, as a multiple of the log's bytes. If they are more, shortName
// bounds each, in bytes.
const (
	mostNames = 16
	shortName = 128
)

// boundNames sets nameLimit, and cuts URLs, for a log of size bytes.
func (x *index) boundNames(size int64) {
	x.nameLimit = v8log.MaxName
	most := mostNames*size + 1<<20
	listed, named := make([]int32, len(x.functions)), make([]int32, len(x.scripts)) // the last object with each, from 1
	for i := range x.objects {
		o := &x.objects[i]
		for _, fn := range append(x.inlined[o.first:o.last:o.last], o.function) {
			if fn == unknown || listed[fn] == int32(i+1) {
				continue
			}
			f := &x.functions[fn]
			listed[fn] = int32(i + 1)
			most -= f.name.span().Size
			if f.script != unknown && named[f.script] != int32(i+1) {
				named[f.script] = int32(i + 1)
				most -= int64(len(x.scripts[f.script].url))
			}
		}
	}
	if most >= 0 {
		return
	}
	x.nameLimit = shortName
	for i := range x.scripts {
		s := &x.scripts[i]
		s.url = string(jitcode.Beginning([]byte(s.url), shortName))
	}
}

// errChanged is the error for a log that has other contents than when it was read first.
var errChanged = errors.New("the log has changed since it was read first")

// readName reads the name of a function from the log. It is "" if the function has none. It fails if
// the log cannot be read again, or if no name is there any more: it is between a comma and a space.
func (x *index) readName(fn int32) (string, error) {
	at := x.functions[fn].name.span()
	if at.Size == 0 {
		return "", nil
	}
	whole := at.Size <= x.nameLimit
	if !whole {
		at.Size = x.nameLimit - 1
	}
	b, err := v8log.ReadSpan(x.src, v8log.Span{Off: at.Off - 1, Size: at.Size + 2}, v8log.MaxName+2, nil)
	if err != nil {
		return "", err
	}
	name, after := bytes.CutPrefix(b, []byte{','})
	if !whole {
		return string(jitcode.Beginning(name, len(name)-1)), nil
	}
	name, before := bytes.CutSuffix(name, []byte{' '})
	if !after || !before {
		return "", fmt.Errorf("offset %#x: %w", at.Off, errChanged)
	}
	return string(name), nil
}
