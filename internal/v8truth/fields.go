package v8truth

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// unescape returns the UTF-16 code units that V8 wrote for a string of its own: \\, \n, \xNN and
// \uNNNN stand for one unit each, and every other byte is a unit, too (csvparser.mjs).
func unescape(field string) ([]uint16, error) {
	units := make([]uint16, 0, len(field))
	for i := 0; i < len(field); i++ {
		c := field[i]
		if c != '\\' {
			units = append(units, uint16(c))
			continue
		}
		if i++; i == len(field) {
			return nil, fmt.Errorf("a string ends with a backslash")
		}
		digits := 0
		switch field[i] {
		case 'n':
			units = append(units, '\n')
			continue
		case '\\':
			units = append(units, '\\')
			continue
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		}
		if digits == 0 || i+digits >= len(field) {
			return nil, fmt.Errorf("unknown escape \\%c at byte %d", field[i], i)
		}
		n, err := strconv.ParseUint(field[i+1:i+1+digits], 16, 16)
		if err != nil {
			return nil, fmt.Errorf("escape at byte %d: %w", i, err)
		}
		units = append(units, uint16(n))
		i += digits
	}
	return units, nil
}

// text returns a string of V8's own as UTF-8.
func text(field string) (string, error) {
	units, err := unescape(field)
	return string(utf16.Decode(units)), err
}

// address parses 0x and hexadecimal digits.
func address(field string) (uint64, error) {
	digits, ok := strings.CutPrefix(field, "0x")
	if !ok {
		return 0, fmt.Errorf("%q is not an address", field)
	}
	return strconv.ParseUint(digits, 16, 64)
}

// A table of code-source-info consists of entries without separators, and an entry of letters
// with a number each. entries calls next with the numbers, in the order of the letters. The
// number of a letter that the entry does not have, or that has no digits, is none.
func entries(table, letters string, next func(numbers []int) error) error {
	for len(table) > 0 {
		if table[0] != letters[0] {
			return fmt.Errorf("an entry begins with %q, want %c", table[0], letters[0])
		}
		numbers := make([]int, len(letters))
		for i := range letters {
			numbers[i] = none
			if len(table) == 0 || table[0] != letters[i] {
				continue
			}
			end := 1
			for end < len(table) && (table[end] == '-' || table[end] >= '0' && table[end] <= '9') {
				end++
			}
			if end > 1 {
				n, err := strconv.Atoi(table[1:end])
				if err != nil {
					return err
				}
				numbers[i] = n
			}
			table = table[end:]
		}
		if err := next(numbers); err != nil {
			return err
		}
	}
	return nil
}

// none is the number that an entry does not have. No number of V8 is so low.
const none = -1 << 31
