package perfdata_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

func TestNamespaces_Decoded(t *testing.T) {
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		rec := testrec.NewRecording()
		rec.Order = order
		rec.Namespaces(5, 100, 11, 22, 33, 44, 55, 66, 77)
		rec.Namespaces(6, 200, 11, 22)
		rec.Raw(16, 0, append(order.AppendUint64(order.AppendUint64(nil, 7), 1<<60), make([]byte, 32)...))
		f := open(t, rec.Bytes())
		ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
		if err != nil {
			t.Fatal(err)
		}
		records(t, f, func(_ int64, r perfdata.Record) {
			n, err := ls.Namespaces(r)
			switch n.PID {
			case 5:
				if err != nil || n.Of(perfdata.NamespacePID).Inode != 44 || n.Of(perfdata.NamespaceMount).Inode != 66 || n.Of(9) != (perfdata.Namespace{}) {
					t.Errorf("for %v: got %+v, %v; want no error, Of(perfdata.NamespacePID).Inode = 44, Of(perfdata.NamespaceMount).Inode = 66, Of(9) = %+v", order, n, err, perfdata.Namespace{})
				}
			case 6: // of a kernel that knows fewer
				if err != nil || n.Of(perfdata.NamespaceMount) != (perfdata.Namespace{}) {
					t.Errorf("for %v: got %+v, %v; want no error, Of(perfdata.NamespaceMount) = %+v", order, n, err, perfdata.Namespace{})
				}
			default:
				if err == nil || !strings.Contains(err.Error(), "room for 1") {
					t.Errorf(`for %v: got %+v, %v; want an error with "room for 1"`, order, n, err)
				}
			}
		})
	}
}
