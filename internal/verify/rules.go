package verify

// A Rule is something that has to hold of a file.
type Rule struct {
	Name      string   // KIND/WHAT
	Severity  Severity // of breaking it
	Statement string   // what has to hold
	Cause     string   // why it usually does not
	Advice    string   // what to do then
}
