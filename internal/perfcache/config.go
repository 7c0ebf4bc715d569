package perfcache

import "strings"

// configured returns a value in a configuration of perf, or "". The format is that of
// git, see perf-config(1); as with perf, nothing is made of a ~ or $HOME in it.
func configured(text, section, key string) (value string) {
	in := ""
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		switch text[0] {
		case '#', ';':
			_, text, _ = strings.Cut(text, "\n")
			continue
		case '[':
			in, text, _ = strings.Cut(text[1:], "]")
			in = strings.ToLower(in)
			continue
		}
		end := strings.IndexAny(text, "=\n")
		if end < 0 {
			break
		}
		name, is := strings.TrimSpace(text[:end]), text[end] == '='
		if text = text[end+1:]; is {
			var found string
			if found, text = readValue(text); in == section && name == key {
				value = found // the last one counts
			}
		}
	}
	return value
}

// readValue reads a value to the end of its line: between quotes all counts, elsewhere
// spaces are one, and a comment ends it. A \ at the end of a line is none.
func readValue(text string) (value, rest string) {
	var b strings.Builder
	quoted, space := false, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n':
			return b.String(), text[i:]
		case !quoted && (c == '#' || c == ';'):
			_, rest, _ = strings.Cut(text[i:], "\n")
			return b.String(), rest
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(text):
			i++
			if escaped := strings.IndexByte("ntb\n", text[i]); escaped >= 0 {
				b.WriteString([]string{"\n", "\t", "\b", ""}[escaped])
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
