package inject_test

import (
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

func TestMain(m *testing.M) { testrec.Main(m) }
