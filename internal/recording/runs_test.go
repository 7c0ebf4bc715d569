package recording

import (
	"testing"

	"github.com/jitinject/jitinject/perfdata"
)

// What is copied unseen is copied in pieces, between which a run can be interrupted and
// says how far it is; none is left out.
func TestUntouched_InPieces(t *testing.T) {
	const size = 10 << 20 // of a stretch
	var s runs
	for i := range 40 {
		s.add(&perfdata.Block{Offset: 100 + int64(i)*size, Data: make([]byte, size)}, uint64(i), i == 30)
	}
	at, pieces := int64(100), 0
	for {
		end := s.Untouched(at, 35)
		if end == at {
			break
		}
		if end-at < MinRun || end-at > maxUnseen+size {
			t.Errorf("%d bytes at once", end-at)
		}
		at = end
		pieces++
	}
	if at != 100+30*size || pieces < 4 {
		t.Errorf("%d pieces up to %d, want %d", pieces, at, 100+30*size)
	}
}
