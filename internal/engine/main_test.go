package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

func TestMain(m *testing.M) { testrec.Main(m) }

// asJSON returns a value as failures print it, with what its pointers lead to.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
