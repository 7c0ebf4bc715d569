package main

import (
	"fmt"
	"strconv"
	"strings"
)

// A session is one that a document shows.
type session struct {
	name      string
	recording string
	files     []string
	needs     []string
	root      string
	records   bool
	steps     []step
	shown     string // what stands in the document, without the fence

	from, to int // the lines between the comment and the end mark, in the document
}

// A step is one command of a session.
type step struct {
	command string
	hidden  bool
	filter  string
	code    int // that it has to exit with
}

const (
	beginMark = "<!-- session "
	endMark   = "<!-- /session -->"
	fence     = "```"
)

// parse finds the sessions of a document.
func parse(doc string) ([]*session, error) {
	lines := strings.Split(doc, "\n")
	var sessions []*session
	inCode := false
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], fence) {
			inCode = !inCode
		}
		if inCode || !strings.HasPrefix(lines[i], beginMark) {
			continue
		}
		s, err := parseHead(strings.Fields(strings.TrimPrefix(lines[i], beginMark)))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		for i++; i < len(lines) && lines[i] != "-->"; i++ {
			if err := s.addLine(lines[i]); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
		s.from = i + 1
		for i++; i < len(lines) && lines[i] != endMark; i++ {
			if strings.HasPrefix(lines[i], beginMark) {
				return nil, fmt.Errorf("line %d: session %s has no end mark before it", i+1, s.name)
			}
		}
		if i >= len(lines) {
			return nil, fmt.Errorf("session %s has no end mark", s.name)
		}
		s.to = i
		if s.to-s.from >= 2 {
			s.shown = strings.Join(lines[s.from+1:s.to-1], "\n") + "\n"
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

func parseHead(words []string) (*session, error) {
	if len(words) == 0 {
		return nil, fmt.Errorf("a session without a name")
	}
	s := &session{name: words[0]}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "recording":
			s.recording = value
		case "files":
			s.files = strings.Split(value, ",")
		case "needs":
			s.needs = strings.Split(value, ",")
		case "in":
			s.root = value
		case "records":
			s.records = true
		default:
			return nil, fmt.Errorf("session %s: there is no attribute %q", s.name, key)
		}
	}
	return s, nil
}

func (s *session) addLine(line string) error {
	kind, rest, _ := strings.Cut(line, " ")
	last := len(s.steps) - 1
	switch {
	case kind == "$" || kind == ":":
		s.steps = append(s.steps, step{command: rest, hidden: kind == ":"})
	case kind == "|" && last >= 0:
		s.steps[last].filter = rest
	case kind == "=" && last >= 0:
		code, err := strconv.Atoi(rest)
		s.steps[last].code = code
		return err
	default:
		return fmt.Errorf("session %s: %q is no line of a session", s.name, line)
	}
	return nil
}

// paste puts what sessions printed into their document. They are in its order.
func paste(doc string, printed map[*session]string, sessions []*session) string {
	lines := strings.Split(doc, "\n")
	var out []string
	at := 0
	for _, s := range sessions {
		text, ok := printed[s]
		if !ok {
			continue
		}
		out = append(out, lines[at:s.from]...)
		out = append(out, fence+"console")
		out = append(out, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		out = append(out, fence)
		at = s.to
	}
	return strings.Join(append(out, lines[at:]...), "\n")
}
