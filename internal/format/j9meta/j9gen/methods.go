package j9gen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// A Method is what a VM can tell about a J9Method by JVMTI.
type Method struct {
	Address   uint64 // of the J9Method
	Class     string // as class files have it: java/lang/String
	Name      string
	Signature string // (I)V
	File      string // "" where the class file does not say
	Lines     []Line // by growing index, the first 0; none where the class file does not say
}

// A Line says that bytecodes from its index on, up to the next one's, are of a
// line of the source.
type Line struct {
	ByteCodeIndex uint32
	Line          uint32
}

var (
	packages   = []string{"java/util", "java/lang", "com/example/shop", "org/example/render", "p"}
	classes    = []string{"HashMap", "Parser", "StringBuilder", "Matrix", "Order$Item", "Längen", "Worker$$Lambda$14"}
	names      = []string{"run", "get", "put", "append", "next", "<init>", "<clinit>", "lambda$main$0", "größer", "hash"}
	signatures = []string{"()V", "(I)V", "(Ljava/lang/Object;)Ljava/lang/Object;", "([BII)I", "(JD)Z", "([[Ljava/lang/String;)V"}
)

// Methods draws the names and lines of all methods that b names: first that which
// was compiled, then those that were inlined and not unloaded, then those of
// wide exception entries, each once. No two have the same name.
func Methods(rng *rand.Rand, b *j9meta.Body) []Method {
	h := &b.Header
	addresses := []uint64{h.RAMMethod}
	for _, s := range b.Sites {
		addresses = append(addresses, s.Method)
	}
	for _, e := range b.Exceptions {
		if h.WideExceptions() && e.Method > uint64(len(b.Sites)) { // else it is the index of a site
			addresses = append(addresses, e.Method)
		}
	}
	var list []Method
	seen := make(map[uint64]bool)
	named := make(map[string]bool)
	for _, address := range addresses {
		if seen[address] || b.Layout.Unloaded(address) {
			continue
		}
		seen[address] = true
		m := Method{Address: address}
		m.draw(rng)
		for id := m.Class + m.Name + m.Signature; named[id]; id = m.Class + m.Name + m.Signature {
			m.Name = fmt.Sprintf("%s%d", strings.Trim(m.Name, "<>"), rng.IntN(1000))
		}
		named[m.Class+m.Name+m.Signature] = true
		list = append(list, m)
	}
	return list
}

func (m *Method) draw(rng *rand.Rand) {
	class := pick(rng, classes)
	m.Class = pick(rng, packages) + "/" + class
	m.Name = pick(rng, names)
	m.Signature = pick(rng, signatures)
	if rng.IntN(100) < 90 {
		outer, _, _ := strings.Cut(class, "$")
		m.File = outer + ".java"
	}
	if rng.IntN(100) < 15 { // compiled with -g:none
		return
	}
	line := uint32(1 + rng.IntN(2000))
	for index := uint32(0); ; index += uint32(1 + rng.IntN(30)) {
		m.Lines = append(m.Lines, Line{index, line})
		if len(m.Lines) > 3 && rng.IntN(100) < 4 {
			return
		}
		if line += uint32(rng.IntN(4)); rng.IntN(10) == 0 { // back to a loop's head
			line = slices.MinFunc(m.Lines, func(a, b Line) int { return int(a.Line) - int(b.Line) }).Line
		}
	}
}

func pick(rng *rand.Rand, list []string) string { return list[rng.IntN(len(list))] }
