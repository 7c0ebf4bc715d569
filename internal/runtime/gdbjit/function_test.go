package gdbjit

import (
	"reflect"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// PHP registers each function with the line unknown:1, which is no line.
func TestDropPlaceholders_PHP(t *testing.T) {
	for _, c := range []struct {
		files       []string
		lines, want []jitcode.Line
	}{
		{[]string{"unknown"}, []jitcode.Line{{Offset: 0, Line: 1}, {Offset: 8}}, nil},
		{[]string{"a.c", "unknown"}, []jitcode.Line{{Offset: 0, File: 1, Line: 1}, {Offset: 8, Line: 3}}, []jitcode.Line{{Offset: 0}, {Offset: 8, Line: 3}}},
		{[]string{"/src/unknown"}, []jitcode.Line{{Line: 1}}, []jitcode.Line{{Line: 1}}},
	} {
		fn := &jitcode.Function{Files: c.files, Lines: c.lines}
		if dropPlaceholders(fn); !reflect.DeepEqual(fn.Lines, c.want) {
			t.Errorf("got lines %+v with files %q; want %+v", fn.Lines, c.files, c.want)
		}
	}
}
