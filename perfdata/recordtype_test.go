package perfdata_test

import (
	"fmt"
	"testing"

	"github.com/jitinject/jitinject/perfdata"
)

func TestRecordType_String(t *testing.T) {
	for typ, want := range map[perfdata.RecordType]string{
		0: "type 0", 1: "MMAP", 9: "SAMPLE", 21: "AUX_OUTPUT_HW_ID", 22: "CALLCHAIN_DEFERRED", 23: "type 23", 63: "type 63",
		64: "HEADER_ATTR", 69: "ID_INDEX", 84: "BPF_METADATA", 85: "SCHEDSTAT_CPU", 86: "SCHEDSTAT_DOMAIN", 87: "type 87", 1<<32 - 1: "type 4294967295",
	} {
		if got := fmt.Sprint(typ); got != want {
			t.Errorf("type %d is %q, want %q", uint32(typ), got, want)
		}
	}
}

// The kernel's numbers and perf's are without gaps.
func TestRecordTypeString_All(t *testing.T) {
	for typ := perfdata.RecordMmap; typ <= perfdata.RecordSchedstatDomain; typ++ {
		named := typ.String() != fmt.Sprintf("type %d", uint32(typ))
		if want := typ <= perfdata.RecordCallchainDeferred || !typ.IsKernel(); named != want {
			t.Errorf("%s has a name: %v, want %v", typ, named, want)
		}
	}
}
