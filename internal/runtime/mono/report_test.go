package mono

import (
	"testing"
)

// Where a log was asked for methods and nothing else, methods without an address are not
// for the user to put right.
func TestOnlyMethods_EveryProfile(t *testing.T) {
	for args, want := range map[string]bool{
		"log:nodefaults,jit,output=app.mlpd": true,
		"log:jit,nodefaults":                 true,
		"log:nodefaults,jit,noalloc":         true,
		"log:jit,output=app.mlpd":            false,
		"log:nodefaults,calls,jit":           false,
		"log:nodefaults,jit,gcalloc":         false,
		"log:nodefaults":                     false,
		"log":                                false,
		"":                                   false,
	} {
		if onlyMethods(args) != want {
			t.Errorf("onlyMethods(%q): got %v; want %v", args, !want, want)
		}
	}
	if text := haveMethods(1) + haveMethods(2); text != "1 method has2 methods have" {
		t.Errorf(`got %+v; want "1 method has2 methods have"`, text)
	}
}
