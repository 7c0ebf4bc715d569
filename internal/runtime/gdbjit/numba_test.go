package gdbjit

import "testing"

// Names are of Numba 0.65, and C++ has tags of its own.
func TestWithoutNumbaFlags_Names(t *testing.T) {
	const flags = "B54c8tJTC_2fWwGaMLSgd6CjA4xXKR0tsqKIYSQsqDQwVMEsTAA_3d_3d"
	for name, want := range map[string]string{
		"_ZN8__main__8declaredB2v1" + flags + "Ex":                        "_ZN8__main__8declaredB2v1Ex",
		"_ZN7cpython8__main__1P5stillB3v12" + flags + "ExB1x":             "_ZN7cpython8__main__1P5stillB3v12ExB1x",
		"cfunc._ZN8__main__8declaredB2v1" + flags + "Ex":                  "cfunc._ZN8__main__8declaredB2v1Ex",
		"_ZN8__main__8declaredB2v1" + flags[:len(flags)-1] + "Ex":         "_ZN8__main__8declaredB2v1" + flags[:len(flags)-1] + "Ex", // a length that is wrong
		"_ZN8__main__8declaredB2v1B99c8tJ":                                "_ZN8__main__8declaredB2v1B99c8tJ",
		"_ZN8__main__8declaredB2v1B5cxx11Ev":                              "_ZN8__main__8declaredB2v1B5cxx11Ev", // not base64
		"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1B5vB5xEv": "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1B5vB5xEv",
		"declared": "declared",
	} {
		if got := string(withoutNumbaFlags([]byte(name))); got != want {
			t.Errorf("%s: got %s; want %s", name, got, want)
		}
	}
}
