package j9meta

import "fmt"

func firstDifference(got, want []byte) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("first difference at %#x: % x, expected % x", i, got[i:min(i+16, len(got))], want[i:min(i+16, len(want))])
		}
	}
	return fmt.Sprintf("%#x bytes, expected %#x", len(got), len(want))
}
