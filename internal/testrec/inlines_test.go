package testrec_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

const inlined = `
volatile int v[2] = {3, 4};
static inline __attribute__((always_inline)) int square(volatile int *x) {
	return *x * *x;
}
static inline __attribute__((always_inline)) int norm(volatile int *a) {
	if (__builtin_expect(*a == 12345, 0)) { *a = 7; v[1] = *a; }
	return square(a) +
		a[1];
}
__attribute__((noinline)) int hot(int n) {
	int s = 0;
	while (n--) s += norm(v);
	return s;
}
int main(void) { return hot(10) & 1; }
`

// The symbolizers agree about what gcc inlines, at every address of a function: what
// each prints is understood. elfutils 0.188 takes the calls around the start of an
// address's line row for those around the address; this program, with no two calls
// on a line, gives it no chance to.
func TestSymbolizers_InlinesOfGCC(t *testing.T) {
	dir := t.TempDir()
	source, object := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
	if err := os.WriteFile(source, []byte(inlined), 0o600); err != nil {
		t.Fatal(err)
	}
	testrec.Run(t, dir, testrec.Tool(t, "gcc", "cc"), "-O1", "-g", "-o", object, source)
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	hot := syms[slices.IndexFunc(syms, func(s elf.Symbol) bool { return s.Name == "hot" })]
	var addrs []uint64
	for a := hot.Value; a < hot.Value+hot.Size; a++ {
		addrs = append(addrs, a)
	}
	var first [][]testrec.Frame
	deep := 0
	for _, s := range testrec.Symbolizers(t) {
		stacks := s.Stacks(t, object, addrs)
		for i, stack := range stacks {
			for j := range stack {
				if s.Columns != (stack[j].Column > 0) {
					t.Errorf("%s: %#x has %+v", s.Name, addrs[i], stack)
				}
				stack[j].Column = 0
				if stack[j].File != source || stack[j].Line == 0 {
					t.Errorf("%s: %#x has %+v", s.Name, addrs[i], stack)
				}
			}
			if first != nil && !slices.Equal(stack, first[i]) {
				t.Errorf("%s: %#x has %v, others say %v", s.Name, addrs[i], stack, first[i])
			}
			if len(stack) == 3 && stack[0].Function == "square" && stack[1].Function == "norm" && stack[2].Function == "hot" {
				deep++
			}
		}
		first = stacks
	}
	if deep < 8 {
		t.Errorf("only %d stacks of three functions in %v", deep, first)
	}
}
