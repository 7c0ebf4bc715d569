package clients

import (
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

func TestMain(m *testing.M) { testrec.MainOnDisk(m) }
