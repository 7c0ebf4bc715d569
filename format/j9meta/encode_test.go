package j9meta

import (
	"bytes"
	"reflect"
	"testing"
)

// A vector that was decoded is written as it was, and nothing is laid in other
// places than OpenJ9's writer puts it.
func TestVectorsEncode(t *testing.T) {
	for _, v := range vectors(t) {
		b, err := Decode(v.blob, v.base, v.layout)
		if err != nil {
			t.Fatal(v.name, err)
		}
		for _, step := range []string{"as decoded", "laid out anew"} {
			out, err := b.Encode()
			if err != nil {
				t.Fatalf("%s, %s: %v", v.name, step, err)
			}
			if !bytes.Equal(out, v.blob) {
				t.Errorf("%s, %s: %s", v.name, step, firstDifference(out, v.blob))
			}
			before := *b
			if err := b.Lay(); err != nil {
				t.Fatal(v.name, err)
			}
			if !reflect.DeepEqual(*b, before) {
				t.Errorf("%s: laid out anew:\n%+v\nbefore:\n%+v", v.name, *b, before)
			}
		}
	}
}
