package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

func TestWriteObject_ValuesAndStreams(t *testing.T) {
	for _, elements := range [][]any{{}, {1}, {"<", nullable{3, -1}}} {
		var out bytes.Buffer
		w := bufio.NewWriter(&out)
		err := writeObject(w, member{name: "none", value: nullable(nil)}, member{name: "list", values: slices.Values(elements)})
		w.Flush()
		var got struct{ None, List []any }
		if jerr := json.Unmarshal(out.Bytes(), &got); err != nil || jerr != nil || got.None == nil || len(got.List) != len(elements) {
			t.Errorf("got %s, %v, %v; want an empty array and one of %d", out.Bytes(), err, jerr, len(elements))
		}
	}
}

func TestMilliseconds_Exact(t *testing.T) {
	for ns, want := range map[uint64]string{0: "0", 1: "0.000001", 1500000: "1.5", 1e6: "1", 12345678: "12.345678", 1000100: "1.0001", 864_000_000_000_001: "864000000.000001"} {
		if got, err := json.Marshal(milliseconds(ns)); string(got) != want || err != nil {
			t.Errorf("%d: got %s, %v; want %s", ns, got, err, want)
		}
	}
}
