package verifytest

import (
	"testing"

	"github.com/jitinject/jitinject/internal/verify"
)

// Reporter returns a reporter that fails a test if a complaint is about a rule of none of some
// tables, or says nothing.
func Reporter(t *testing.T, tables ...[]verify.Rule) *verify.Reporter {
	rules := make(map[string]verify.Rule)
	for _, table := range tables {
		for _, r := range table {
			rules[r.Name] = r
		}
	}
	opts := verify.Options{Emit: func(c verify.Diagnostic) {
		if _, ok := rules[c.Rule]; !ok || c.Text == "" {
			t.Errorf("%+v", c)
		}
	}}
	return verify.NewReporter("x", &opts, rules)
}
