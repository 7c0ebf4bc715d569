package export

import (
	"bufio"
	"encoding/json"
	"iter"
	"strconv"
)

// A member is a member of an object of JSON. values, if not nil, is an array that is written element by
// element, because all of it would need much memory.
type member struct {
	name   string
	value  any
	values iter.Seq[any]
}

// writeObject writes an object. Errors of w stick in it.
func writeObject(w *bufio.Writer, members ...member) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	separator := "{"
	for _, m := range members {
		_, _ = w.WriteString(separator + strconv.Quote(m.name) + ":")
		separator = ","
		if m.values == nil {
			if err := enc.Encode(m.value); err != nil {
				return err
			}
			continue
		}
		element := "["
		for v := range m.values {
			_, _ = w.WriteString(element)
			element = ","
			if err := enc.Encode(v); err != nil {
				return err
			}
		}
		if element == "[" {
			_, _ = w.WriteString(element)
		}
		_, _ = w.WriteString("]")
	}
	_, err := w.WriteString("}\n")
	return err
}

// A nullable is an array of whole numbers. Those below 0 are null.
type nullable []int32

// MarshalJSON implements json.Marshaler.
func (n nullable) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, number := range n {
		if i > 0 {
			b = append(b, ',')
		}
		if number < 0 {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendInt(b, int64(number), 10)
		}
	}
	return append(b, ']'), nil
}

func mapped[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = f(a)
	}
	return out
}
