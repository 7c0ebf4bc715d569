package showmap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/format/perfmap"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/wire"
)

// Format is the format of perf maps.
var Format = show.Format{
	Name:   "a perf map",
	Begins: begins,
	Show:   showMap,
	Types:  []string{"function"},
}

// begins reports whether bytes may be the first ones of a map: a number in hexadecimal with at least
// 4 digits, and perhaps a second one.
func begins(head []byte) bool {
	start, rest, _ := bytes.Cut(head, []byte(" "))
	start = bytes.TrimPrefix(start, []byte("0x"))
	return len(start) >= 4 && isHex(start) && isHex(bytes.TrimPrefix(rest, []byte("0x")))
}

func isHex(digits []byte) bool {
	return !bytes.ContainsFunc(digits, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
}

func showMap(v *show.Viewer) error {
	if err := v.NoCode("perf map"); err != nil {
		return err
	}
	v.Begun("perf map")
	pid, ok := processOf(v.Path)
	if ok {
		v.Out.Num("pid", uint64(pid))
	}
	v.Out.End()
	if f := &v.Opts.Filter; len(f.PIDs) == 0 || ok && v.OfProcess(pid) {
		functions(v, perfmap.NewReader(io.NewSectionReader(v.File, 0, v.Size)))
	}
	return nil
}

// processOf returns the process in the name of a map, perf-PID.map.
func processOf(path string) (pid uint32, ok bool) {
	name, isMap := strings.CutSuffix(filepath.Base(path), ".map")
	digits, isPerf := strings.CutPrefix(name, "perf-")
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), isMap && isPerf && err == nil
}

// functions shows the functions, around damaged lines.
func functions(v *show.Viewer, r *perfmap.Reader) {
	for !v.Lost() {
		l, err := r.Next()
		var damage *wire.Error
		switch {
		case err == nil:
			if v.Record(show.Item{Offset: l.Offset, Type: "function", Size: r.Offset() - l.Offset}, &l, nil) && r.Cut() == l.Offset {
				v.Problem(l.Offset, errors.New("the file ends inside this line: the process was killed or is still writing; the name may be longer"))
			}
		case errors.As(err, &damage):
			v.Problem(damage.Offset, fmt.Errorf("%w; the line is left out", err))
		case err == io.EOF:
			return
		default:
			v.Problem(l.Offset, fmt.Errorf("%w; the rest of the file is left out", err))
			return
		}
	}
}
