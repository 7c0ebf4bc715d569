// Package manual turns pages of a small markdown into plain text for terminals and
// into roff for man.
//
// A page begins with a line "# name(1): what it is in a few words"; "(1)", the
// section of the manual, may be missing. Then come "## SECTION" and "### Subsection",
// paragraphs, lists of lines that begin with "* ", and lines that begin with four
// spaces, which stay as they are. In text, `code`, **bold** and *italics* are marked.
package manual
