package wire

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"
)

// The codecs' Error is an alias, of which go doc shows no fields: their comments list
// them.
func TestError_FieldsAreDocumented(t *testing.T) {
	var want []string
	fields := reflect.TypeFor[Error]()
	for i := range fields.NumField() {
		f := fields.Field(i)
		want = append(want, f.Name+" "+f.Type.String())
	}
	field := regexp.MustCompile(`(?m)^//\t(\w+) +(\w+) +//`)
	for _, codec := range []string{"perfdata", "jitdump"} {
		b, err := os.ReadFile(filepath.Join("..", "..", codec, "error.go"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range field.FindAllStringSubmatch(string(b), -1) {
			got = append(got, m[1]+" "+m[2])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s lists %q, want %q", codec, got, want)
		}
	}
}
