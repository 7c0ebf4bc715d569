package v8truth

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A reader follows the log from line to line.
type reader struct {
	log       *Log
	codes     map[uint64]*Code     // by present address
	functions map[uint64]*Function // by present address of the SharedFunctionInfo
}

// Read reads the text of a log of one isolate. Its errors name the line, from 1.
func Read(text string) (*Log, error) {
	r := &reader{&Log{Scripts: make(map[int]*Script)}, make(map[uint64]*Code), make(map[uint64]*Function)}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		first := i
		line := lines[i]
		// A newline in the name of a function is in the log as it is.
		for unfinished(line) && i+1 < len(lines) {
			i++
			line += "\n" + lines[i]
		}
		if err := r.record(first+1, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", first+1, err)
		}
	}
	return r.log, nil
}

// created has the fields of code-creation: tag, kind, time, address, size, name and, of code of
// functions, the address of the SharedFunctionInfo and the tier. Only the name may have commas.
var created = regexp.MustCompile(`(?s)^code-creation,(\w+),(-?\d+),(\d+),(0x[0-9a-f]+),(\d+),(.*)$`)

// ofFunction splits the rest of such a line.
var ofFunction = regexp.MustCompile(`(?s)^(.*),(0x[0-9a-f]+),([o'~^+*]*)$`)

func unfinished(line string) bool {
	m := created.FindStringSubmatch(line)
	return m != nil && isFunctions(m[1]) && !ofFunction.MatchString(m[6])
}

// isFunctions reports whether code with the tag is a function's.
func isFunctions(tag string) bool {
	switch tag {
	case "JS", "Eval", "Script", "Function", "LazyCompile":
		return true
	}
	return false
}

func (r *reader) record(number int, line string) error {
	if line == "" {
		return nil
	}
	kind, rest, _ := strings.Cut(line, ",")
	fields := strings.Split(rest, ",")
	want := map[string]int{"code-source-info": 7, "script-source": 3, "sfi-move": 2, "code-move": 2}[kind]
	if want > 0 && len(fields) != want {
		return fmt.Errorf("%s has %d fields, want %d", kind, len(fields), want)
	}
	switch kind {
	case "code-creation":
		return r.create(number, line)
	case "code-source-info":
		return r.sourceInfo(fields)
	case "script-source":
		return r.script(fields)
	case "sfi-move", "code-move":
		from, err := address(fields[0])
		if err != nil {
			return err
		}
		to, err := address(fields[1])
		if err != nil {
			return err
		}
		if kind == "sfi-move" {
			if f := r.functions[from]; f != nil {
				f.Addresses = append(f.Addresses, to)
			}
			move(r.functions, from, to)
		} else {
			move(r.codes, from, to)
		}
		return nil
	case "code-delete":
		a, err := address(fields[0])
		delete(r.codes, a)
		return err
	case "v8-version":
		if number != 1 {
			return fmt.Errorf("another log begins")
		}
		return nil
	case "v8-platform", "new", "delete", "heap-capacity", "heap-available", "code-deopt", "code-disable-optimization":
		return nil
	}
	return fmt.Errorf("unknown record %.40q", kind)
}

func move[T any](m map[uint64]T, from, to uint64) {
	if v, ok := m[from]; ok {
		delete(m, from)
		m[to] = v
	}
}

// create reads code-creation. The function's own name and script are known only from the
// code-source-info that follows.
func (r *reader) create(number int, line string) (err error) {
	m := created.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("not a code-creation: %.80q", line)
	}
	c := &Code{Line: number, Tag: m[1]}
	if c.Time, err = strconv.ParseUint(m[3], 10, 64); err != nil {
		return err
	}
	if c.Address, err = address(m[4]); err != nil {
		return err
	}
	if c.Size, err = strconv.ParseUint(m[5], 10, 64); err != nil {
		return err
	}
	r.log.Codes = append(r.log.Codes, c)
	r.codes[c.Address] = c
	if !isFunctions(c.Tag) {
		c.Name = m[6]
		return nil
	}
	f := ofFunction.FindStringSubmatch(m[6])
	if f == nil {
		return fmt.Errorf("code of a function without a function")
	}
	at, err := address(f[2])
	if err != nil {
		return err
	}
	c.Tier = f[3]
	if old := r.functions[at]; old == nil || old.rawName != f[1] {
		r.functions[at] = &Function{rawName: f[1], Addresses: []uint64{at}}
	}
	c.Function = r.functions[at]
	return nil
}

// script reads script-source.
func (r *reader) script(fields []string) error {
	id, err := strconv.Atoi(fields[0])
	if err != nil {
		return err
	}
	s := &Script{ID: id, rawURL: fields[1]}
	if s.URL, err = text(fields[1]); err != nil {
		return err
	}
	units, err := unescape(fields[2])
	if err != nil {
		return err
	}
	s.setText(units)
	r.log.Scripts[id] = s
	return nil
}
