package quote

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s with control characters and invalid UTF-8 escaped. Names come from untrusted
// files, and are printed on terminals.
func Printable(s string) string {
	if strings.IndexFunc(s, isUnclean) < 0 {
		return s
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

func isUnclean(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }

// Lines returns a text of whole lines with other control characters and invalid UTF-8 escaped. It is for messages,
// whose names should be printable already.
func Lines(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r != '\n' && isUnclean(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for n := 0; len(text) > 0; text = text[n:] {
		_, n = utf8.DecodeRuneInString(text)
		if c := text[:n]; c == "\n" {
			b.WriteString(c)
		} else {
			b.WriteString(Printable(c))
		}
	}
	return b.String()
}

// Literal returns dir with the special characters of filepath.Glob quoted.
func Literal(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// ShellWords returns words as a command line for a shell.
func ShellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = ShellWord(w)
	}
	return strings.Join(quoted, " ")
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
