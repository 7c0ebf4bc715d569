package view

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/profile"
)

// Options say what a page shows beside the profile. The zero value is a page without source.
type Options struct {
	// Title is the page's name; "" for the name of the process with most samples.
	Title string
	// Base is an earlier profile to compare with, nil for none. Functions are compared by name,
	// in shares of samples.
	Base *profile.Profile
	// Sources returns the text of a source file, under the path that the profile has; nil for a
	// page without source. It is called once for each file that has samples, the file with most
	// first. The page shows errors in place of the text. The paths come from the recording, so
	// Sources decides what may be read.
	Sources func(path string) ([]byte, error)
	// Beside is a directory that is searched for files that are not at their paths, by the ends
	// of these; "" for none. The page names those that were found there.
	Beside string
	// SourceLimit is the most source text in the page, in bytes; 0 for 4 MiB. The page names
	// the files that exceed it.
	SourceLimit int
	// NodeLimit is the most frames of the graph, in numbers of frames with the same callers; 0 for
	// 500,000. The page says what is left out.
	NodeLimit int
}

//go:embed page
var files embed.FS

// scripts are the files of the script, in the order of their use.
var scripts = []string{
	"text.js", "run.js", "groups.js", "tree.js", "totals.js", "palette.js", "frames.js", "graph.js",
	"table.js", "source.js", "detail.js", "recording.js", "controls.js", "main.js",
}

// Write writes the page of p. It is complete, self-contained HTML in UTF-8. The errors are those of
// w.
func Write(w io.Writer, p *profile.Profile, o Options) error {
	data := encode(p, o)
	text, err := json.Marshal(data) // escapes <, >, &, U+2028 and U+2029
	if err != nil {
		return err
	}
	style, err := files.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	script, err := joinScripts()
	if err != nil {
		return err
	}
	page, err := files.ReadFile("page/page.html")
	if err != nil {
		return err
	}
	// One pass: what is inserted is not searched for places.
	_, err = strings.NewReplacer(
		"{{title}}", html.EscapeString(data.Title),
		"{{policy}}", policy(script, style),
		"{{style}}", string(style),
		"{{script}}", string(script),
		"{{data}}", string(text),
	).WriteString(w, string(page))
	return err
}

// joinScripts returns the files of the script as one function, so that none of its names is global.
func joinScripts() ([]byte, error) {
	var parts [][]byte
	for _, name := range scripts {
		part, err := files.ReadFile("page/" + name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return slices.Concat([]byte("(() => {\n\"use strict\";\n"), bytes.Join(parts, []byte("\n")), []byte("})();\n")), nil
}

// policy allows one script and one style, and nothing else: no network, images, frames or forms.
func policy(script, style []byte) string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'",
		hashOf(script), hashOf(style))
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
