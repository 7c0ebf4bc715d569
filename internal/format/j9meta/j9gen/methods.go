package j9gen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

var (
	packages   = []string{"java/util", "java/lang", "com/example/shop", "org/example/render", "p"}
	classes    = []string{"HashMap", "Parser", "StringBuilder", "Matrix", "Order$Item", "Längen", "Worker$$Lambda$14"}
	names      = []string{"run", "get", "put", "append", "next", "<init>", "<clinit>", "lambda$main$0", "größer", "hash"}
	signatures = []string{"()V", "(I)V", "(Ljava/lang/Object;)Ljava/lang/Object;", "([BII)I", "(JD)Z", "([[Ljava/lang/String;)V"}
)

// Methods draws the names and lines of all methods that b names: first that which
// was compiled, then those that were inlined and not unloaded, each once. No two have the same name.
func Methods(rng *rand.Rand, b *j9meta.Body) []j9meta.CaptureMethod {
	addresses := []uint64{b.Header.RAMMethod}
	for _, s := range b.Sites {
		addresses = append(addresses, s.Method)
	}
	var list []j9meta.CaptureMethod
	seen := make(map[uint64]bool)
	named := make(map[string]bool)
	for _, address := range addresses {
		if seen[address] || b.Layout.Unloaded(address) {
			continue
		}
		seen[address] = true
		m := draw(rng)
		m.Method = j9meta.Address(address)
		for id := m.Class + m.Name + m.Signature; named[id]; id = m.Class + m.Name + m.Signature {
			m.Name = fmt.Sprintf("%s%d", strings.Trim(m.Name, "<>"), rng.IntN(1000))
		}
		named[m.Class+m.Name+m.Signature] = true
		list = append(list, m)
	}
	return list
}

func draw(rng *rand.Rand) (m j9meta.CaptureMethod) {
	class := pick(rng, classes)
	m.Class = pick(rng, packages) + "/" + class
	m.Name = pick(rng, names)
	m.Signature = pick(rng, signatures)
	if rng.IntN(100) < 90 {
		outer, _, _ := strings.Cut(class, "$")
		m.File = outer + ".java"
	}
	if rng.IntN(100) < 15 { // compiled with -g:none
		return m
	}
	line := uint32(1 + rng.IntN(2000))
	for index := uint32(0); ; index += uint32(1 + rng.IntN(30)) {
		m.Lines = append(m.Lines, [2]uint32{index, line})
		if len(m.Lines) > 3 && rng.IntN(100) < 4 {
			return m
		}
		if line += uint32(rng.IntN(4)); rng.IntN(10) == 0 { // back to a loop's head
			line = slices.MinFunc(m.Lines, func(a, b [2]uint32) int { return int(a[1]) - int(b[1]) })[1]
		}
	}
}

func pick(rng *rand.Rand, list []string) string { return list[rng.IntN(len(list))] }
