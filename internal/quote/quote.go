package quote

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable returns s with control characters and invalid UTF-8 escaped. Names come from untrusted
// files, and are printed on terminals.
func Printable(s string) string {
	clean := func(r rune) bool { return r != unicode.ReplacementChar && unicode.IsPrint(r) }
	if strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

// Literal returns dir with the special characters of filepath.Glob quoted.
func Literal(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// ShellWord returns s quoted as one word for a shell, with control characters escaped.
func ShellWord(s string) string {
	if Printable(s) != s {
		return "$" + "'" + strings.ReplaceAll(Printable(s), "'", `\'`) + "'"
	}
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
