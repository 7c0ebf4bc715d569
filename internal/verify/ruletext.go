package verify

import (
	"fmt"
	"slices"
	"strings"
)

// ReadRules reads a table of rules, which are separated by empty lines:
//
//	NAME SEVERITY [repaired] [counted] [users]
//	STATEMENT
//	Cause: …
//	Advice: …
//	User: …
//
// Rule explains the parts; the last line and the three words are optional. Paragraphs that begin with # are
// headings. It panics if the table, which is part of the program, has another form.
func ReadRules(table string) (rules []Rule) {
	for text := range strings.SplitSeq(strings.TrimSpace(table), "\n\n") {
		if strings.HasPrefix(text, "#") {
			continue
		}
		lines := append(strings.Split(strings.TrimSpace(text), "\n"), "User: ")
		head := strings.Fields(lines[0])
		severity := slices.Index([]string{Note.String(), Warning.String(), Error.String()}, head[1])
		cause, hasCause := strings.CutPrefix(lines[2], "Cause: ")
		advice, hasAdvice := strings.CutPrefix(lines[3], "Advice: ")
		user, hasUser := strings.CutPrefix(lines[4], "User: ")
		if severity < 0 || !hasCause || !hasAdvice || !hasUser {
			panic(fmt.Sprintf("no rule: %q", text))
		}
		has := func(word string) bool { return slices.Contains(head[2:], word) }
		rules = append(rules, Rule{
			Name: head[0], Severity: Severity(severity), Statement: lines[1], Cause: cause, Advice: advice, User: user,
			Repaired: has("repaired"), Counted: has("counted"), ForUsers: has("users"),
		})
	}
	return rules
}
