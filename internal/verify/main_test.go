package verify_test

import (
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Some tests inject: the engine must not find other dumps in /tmp.
func TestMain(m *testing.M) { testrec.Main(m) }
