package source

import (
	"github.com/jitinject/jitinject/format/j9meta"
)

func j9CaptureName(raw *j9meta.Capture) []byte {
	return []byte("j9")
}

func j9Info(raw *j9meta.Capture, p *j9Part, r *Reader) (ok bool, problems []Problem) {
	_, err := raw.Body()
	if err != nil {
		problems = append(problems, Problem{-1, err.Error()})
	}
	return err == nil, problems
}
