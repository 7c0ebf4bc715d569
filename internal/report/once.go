package report

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jitinject/jitinject/internal/quote"
)

// osName matches what package os puts before an error: the call, and the name of the file.
var osName = regexp.MustCompile(`\b(open|openat|stat|statat|lstat|read|readdirent|readlink|seek) ([^:]+): `)

// About returns a text about a file, with its name before it and nowhere else: errors of package os begin
// with the name, too, and those of a codec with the name of the format, which is often that of the file.
func About(path, text string) string {
	name := quote.Printable(path)
	for _, again := range []string{path, name, filepath.Base(name)} {
		text = strings.TrimPrefix(text, again+": ")
	}
	return Once(name + ": " + text)
}

// Once returns a message in which an error of package os does not repeat the name of a file, and none has
// the name of a standard stream, which nobody knows: |0.
func Once(message string) string {
	for _, m := range osName.FindAllStringSubmatchIndex(message, -1) {
		if name := message[m[4]:m[5]]; name != "it" && (strings.HasPrefix(name, "|") || strings.Contains(message[:m[0]], name)) {
			return Once(message[:m[0]] + message[m[1]:])
		}
	}
	return message
}
