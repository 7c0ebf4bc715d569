package jvmti_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// FuzzAgent gives the agent's encoders, its decoder of OpenJ9's metadata and its options any input,
// in a VM that may refuse any question, with an allocator that may fail at any time. AddressSanitizer
// and UBSan watch, also the unused ends of buffers; what is not freed is counted. All records follow
// the rules, and where nothing failed they say what was posted.
func FuzzAgent(f *testing.F) {
	agent := &fuzzAgent{exe: buildFuzzAgent(f)}
	f.Cleanup(agent.stop)
	addFuzzSeeds(f)
	f.Fuzz(func(t *testing.T, kind uint8, fail uint16, refuse uint8, data []byte) {
		var q question
		input := fuzzBytes(data)
		// Half of the inputs have no failures, so that answers can be compared.
		if kind&0x80 == 0 {
			fail, refuse = 0, 0
		}
		kind %= kinds
		q.number(uint32(fail), uint32(refuse), uint32(kind))
		var methods fuzzFacts
		if kind != kindOptions {
			for range input.u8() % (fuzzMethods + 1) {
				methods = append(methods, input.method())
			}
		}
		q.methods(methods)
		ask := func() []byte {
			b, err := agent.ask(q)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		undisturbed := fail == 0 && refuse == 0
		switch kind {
		case kindOptions:
			text := []string{"", "dir=", "names=", `"`}[input.u8()%4] + input.text()
			q.text(text)
			checkOptions(t, text, ask())
		case kindOpenJ9:
			part := input.u8() % 2
			blob := input.metadata()
			q.text(string(blob))
			q.number(uint32(part))
			all, err := readAnswer(ask())
			checkOpenJ9(t, all, err, methods, blob, undisturbed)
		default:
			p := input.places(methods)
			q.places(p)
			if kind == kindOther {
				p.places = mapPlaces(p)
			}
			p.sort()
			all, err := readAnswer(ask())
			checkPlaces(t, all, err, p, undisturbed)
		}
	})
}

// disturbed is the bit of a kind that lets questions and allocations fail.
func disturbed(is bool) uint8 {
	if is {
		return 0x80
	}
	return 0
}

func addFuzzSeeds(f *testing.F) {
	f.Helper()
	for _, s := range []string{"dir=/tmp,names=short", `"dir=/x"`, "names=long", ",,dir=", "dir=/a,dir=/b", `"`, `""`} {
		f.Add(uint8(kindOptions), uint16(0), uint8(0), append([]byte{0, byte(len(s))}, s...))
	}
	for length := range byte(16) {
		f.Add(uint8(kindOptions), uint16(0), uint8(0), []byte{1, longPath, length})
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range 60 {
		data := make([]byte, rng.IntN(3000))
		for j := range data {
			data[j] = byte(rng.Uint32())
			if i%5 == 0 && j%2 == 0 {
				data[j] |= 0xf0 // the special parts of texts
			}
		}
		f.Add([]uint8{kindHotSpot, kindOther}[i%2]|disturbed(i >= 20), uint16(max(0, i-20)), uint8(max(0, i-40)), data)
	}
	for i := range 80 {
		// No method is known; or 16, with lengths of their texts, flags and a line. Then the part,
		// and what metadata draws.
		data := []byte{0}
		if i%4 != 0 {
			data = append([]byte{fuzzMethods}, bytes.Repeat([]byte{0, 0, 0, 0, 7, 1, 5, 9, 0, 0, 0}, fuzzMethods)...)
		}
		if i%4 == 1 { // a text of the first method is too long, or nearly
			data[1+i/4%4] = longName
		}
		data = append(data, byte(i%3/2), 0)
		for range 40 + i {
			data = append(data, byte(rng.Uint32()))
		}
		f.Add(uint8(kindOpenJ9)|disturbed(i >= 60), uint16(max(0, i-60)), uint8(max(0, i-70)), data)
	}
}
