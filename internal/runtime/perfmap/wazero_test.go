package perfmap

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
)

// The lines of wazero for one function are one, and its trampolines are where they lie. Lines that only
// look so stay as they are.
func TestMap_Wazero(t *testing.T) {
	for name, c := range map[string]struct {
		lines string
		want  []string
		whole int // number of lines that lost no address
	}{
		"a function": {"100000 20 [4/93].f:::::L0\n100020 61 [4/93].f:::::L6\n100081 0 [4/93].f:::::L7\n100081 5 [4/93].f:::::L2\n100090 8 [5/93].f:::::L0\n",
			[]string{"100000 86 [4/93].f", "100090 8 [5/93].f"}, 2},
		"a gap": {"100000 20 [4/93].f:::::L0\n100021 61 [4/93].f:::::L6\n",
			[]string{"100000 20 [4/93].f", "100021 61 [4/93].f"}, 2},
		"another function between": {"100000 20 [4/93].f:::::L0\n100020 10 g\n100030 61 [4/93].f:::::L6\n",
			[]string{"100000 20 [4/93].f", "100020 10 g", "100030 61 [4/93].f"}, 3},
		"a damaged line between": {"100000 20 [4/93].f:::::L0\nxyz\n100020 61 [4/93].f:::::L6\n",
			[]string{"100000 81 [4/93].f"}, 1},
		"not wazero's": {"100000 20 f:::::L0\n100020 61 f:::::L6\n",
			[]string{"100000 20 f:::::L0", "100020 61 f:::::L6"}, 2},
		"trampolines": {"100510 1f0 grow\n100000 147 trampoline:a\n1002a0 152 trampoline:b\n100560 14 trampoline:c\n1005a0 14 trampoline:d\n",
			[]string{"100000 147 trampoline:a", "100150 152 trampoline:b", "1002b0 14 trampoline:c", "1002d0 14 trampoline:d", "100510 1f0 grow"}, 5},
		"trampolines at their places": {"100000 147 trampoline:a\n100150 152 trampoline:b\n",
			[]string{"100000 147 trampoline:a", "100150 152 trampoline:b"}, 2},
		"trampolines of two modules": {"100000 147 trampoline:a\n200000 147 trampoline:b\n2002a0 10 trampoline:c\n",
			[]string{"100000 147 trampoline:a", "200000 147 trampoline:b", "200150 10 trampoline:c"}, 3},
	} {
		m := scanned(t, bytes.NewReader([]byte(c.lines)))
		got := shown(t, m)
		slices.Sort(got)
		if !reflect.DeepEqual(got, c.want) || m.Lines-m.Replaced != c.whole {
			t.Errorf("%s: got %q, %d of %d lines replaced; want %q, %d whole lines", name, got, m.Replaced, m.Lines, c.want, c.whole)
		}
	}
}
