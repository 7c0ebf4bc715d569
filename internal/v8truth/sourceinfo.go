package v8truth

import (
	"fmt"
	"strconv"
	"strings"
)

// sourceInfo reads code-source-info.
func (r *reader) sourceInfo(fields []string) error {
	at, err := address(fields[0])
	if err != nil {
		return err
	}
	var numbers [3]int // script, start, end
	for i := range numbers {
		if numbers[i], err = strconv.Atoi(fields[1+i]); err != nil {
			return err
		}
	}
	c, script := r.codes[at], r.log.Scripts[numbers[0]]
	if c == nil || c.Function == nil {
		return fmt.Errorf("no code of a function at %#x", at)
	}
	if script == nil {
		return fmt.Errorf("no script %d", numbers[0])
	}
	if f := c.Function; f.Script != nil && (f.Script != script || f.Start != numbers[1] || f.End != numbers[2]) {
		// Another function of that name, such as one of new Function, at the address of a dead one.
		a := f.Addresses[len(f.Addresses)-1]
		c.Function = &Function{rawName: f.rawName, Addresses: []uint64{a}}
		r.functions[a] = c.Function
	}
	if err := c.Function.locate(script, numbers[1], numbers[2]); err != nil {
		return err
	}
	err = entries(fields[4], "COI", func(n []int) error {
		if n[0] < 0 || n[1] == none {
			return fmt.Errorf("a position has no offsets")
		}
		if k := len(c.positions); k > 0 && c.positions[k-1].code > n[0] {
			return fmt.Errorf("code offsets descend at %d", n[0])
		}
		c.positions = append(c.positions, position{n[0], n[1], n[2]})
		return nil
	})
	if err != nil {
		return err
	}
	err = entries(fields[5], "FOI", func(n []int) error {
		c.inlined = append(c.inlined, inlined{n[0], n[1], n[2]})
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range strings.Split(fields[6], "S")[1:] {
		a, err := address(s)
		if err != nil {
			return err
		}
		f := r.functions[a]
		if f == nil || f.Script == nil {
			return fmt.Errorf("inlined function %#x is unknown", a)
		}
		c.functions = append(c.functions, f)
	}
	return c.check()
}

// check fails for indexes that lead nowhere or in circles.
func (c *Code) check() error {
	for i := range c.positions {
		if n := c.positions[i].inlined; n != none && (n < 0 || n >= len(c.inlined)) {
			return fmt.Errorf("position %d is of inlined call %d of %d", i, n, len(c.inlined))
		}
	}
	for i := range c.inlined {
		if n := c.inlined[i].function; n != none && (n < 0 || n >= len(c.functions)) {
			return fmt.Errorf("inlined call %d is of function %d of %d", i, n, len(c.functions))
		}
		for at, steps := i, 0; at != none; at, steps = c.inlined[at].parent, steps+1 {
			if at < 0 || at >= len(c.inlined) || steps > len(c.inlined) {
				return fmt.Errorf("inlined call %d has no outermost caller", i)
			}
		}
	}
	return nil
}

// locate splits the name of a function, NAME SCRIPT:LINE:COLUMN, and keeps its extent. NAME and
// SCRIPT may have spaces and colons; the script's URL decides.
func (f *Function) locate(s *Script, start, end int) error {
	rest, column, ok1 := cutLast(f.rawName, ":")
	rest, line, ok2 := cutLast(rest, ":")
	url := s.rawURL
	if url == "<unknown>" {
		url = "" // code of eval and of new Function
	}
	name, ok3 := strings.CutSuffix(rest, " "+url)
	if !ok1 || !ok2 || !ok3 {
		return fmt.Errorf("function %q is not of script %s", f.rawName, s.rawURL)
	}
	var err error
	if f.Line, err = strconv.Atoi(line); err != nil {
		return err
	}
	if f.Column, err = strconv.Atoi(column); err != nil {
		return err
	}
	f.Name, f.Script, f.Start, f.End = name, s, start, end
	return nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// place returns the function's name and place as in V8's jitdump.
func (f *Function) place() string {
	if f.Script == nil {
		return f.rawName
	}
	url := f.Script.URL
	if f.Script.rawURL == "<unknown>" {
		url = ""
	}
	return fmt.Sprintf("%s %s:%d:%d", f.Name, url, f.Line, f.Column)
}
