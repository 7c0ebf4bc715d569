package inject

import (
	"fmt"
	"reflect"
)

// The public types have the fields of the engine's, without those that only the command needs. So a
// field is copied to the field with its name. convert_test.go compares all pairs of types.

// convert copies the exported fields of a struct to those of another, and all that they refer to. to
// and from are pointers. The other struct may have more fields, which stay as they are.
func convert(to, from any) { convertValue(reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()) }

func convertValue(to, from reflect.Value) {
	switch {
	case from.Type().AssignableTo(to.Type()):
		to.Set(from)
	case from.Kind() == reflect.Struct:
		for _, field := range reflect.VisibleFields(from.Type()) {
			if !field.IsExported() || len(field.Index) > 1 { // fields of embedded structs come with them
				continue
			}
			same := to.FieldByName(field.Name)
			if !same.IsValid() {
				panic(fmt.Sprintf("inject: %v has no field %s", to.Type(), field.Name))
			}
			convertValue(same, from.FieldByIndex(field.Index))
		}
	case from.Kind() == reflect.Pointer && !from.IsNil():
		to.Set(reflect.New(to.Type().Elem()))
		convertValue(to.Elem(), from.Elem())
	case from.Kind() == reflect.Slice && !from.IsNil():
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			convertValue(to.Index(i), from.Index(i))
		}
	case from.Kind() == reflect.Pointer, from.Kind() == reflect.Slice:
		to.SetZero()
	default:
		to.Set(from.Convert(to.Type()))
	}
}
