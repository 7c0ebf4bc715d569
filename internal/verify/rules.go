package verify

import "slices"

// A Rule is something that has to hold of a file.
type Rule struct {
	Name      string   // KIND/WHAT
	Severity  Severity // of breaking it
	Statement string   // what has to hold
	Cause     string   // why it usually does not
	Advice    string   // what to do then
}

// ruleNamed returns a rule of the table. A test sees to it that every name in this
// package is in the table.
func ruleNamed(name string) Rule {
	if r, ok := rulesByName[name]; ok {
		return r
	}
	return Rule{Name: name, Severity: Error}
}

// Explain returns the rule of a name.
func Explain(name string) (Rule, bool) {
	r, ok := rulesByName[name]
	return r, ok
}

var rulesByName = func() map[string]Rule {
	m := make(map[string]Rule, len(Rules))
	for _, r := range Rules {
		m[r.Name] = r
	}
	return m
}()

// Rules are all rules there are, in the order in which they are explained.
var Rules = slices.Concat(dumpRules, monoRules, xrayRules, j9Rules, fileRules)
