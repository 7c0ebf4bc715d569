package export

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/jitinject/jitinject/internal/profile"
)

// speedscopeFile is what https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts
// requires.
type speedscopeFile struct {
	Schema             string `json:"$schema"`
	ActiveProfileIndex int    `json:"activeProfileIndex"`
	Exporter, Name     string
	Shared             struct {
		Frames []struct {
			Name, File string
			Line       int
		}
	}
	Profiles []struct {
		Type, Name, Unit     string
		StartValue, EndValue float64
		Samples              [][]int
		Weights              []float64
	}
}

func readSpeedscope(t *testing.T, p *profile.Profile) speedscopeFile {
	t.Helper()
	var file speedscopeFile
	if err := json.Unmarshal(write(t, "speedscope", p), &file); err != nil {
		t.Fatal(err)
	}
	if file.Schema != "https://www.speedscope.app/file-format-schema.json" || len(file.Profiles) == 0 {
		t.Fatalf("got schema %q, %d profiles", file.Schema, len(file.Profiles))
	}
	for _, one := range file.Profiles {
		sum := 0.0
		for _, w := range one.Weights {
			sum += w
		}
		if one.Type != "sampled" || len(one.Samples) != len(one.Weights) || one.StartValue != 0 || one.EndValue != sum {
			t.Errorf("%s: got type %s, %d samples, %d weights, %v to %v; want as many of both, and their sum %v", one.Name, one.Type, len(one.Samples), len(one.Weights), one.StartValue, one.EndValue, sum)
		}
		for _, stack := range one.Samples {
			for _, frame := range stack {
				if frame < 0 || frame >= len(file.Shared.Frames) {
					t.Fatalf("%s: got frame %d; want one below %d", one.Name, frame, len(file.Shared.Frames))
				}
			}
		}
	}
	return file
}

func TestSpeedscope_ThreadsAndTimes(t *testing.T) {
	file := readSpeedscope(t, recorded())
	var names []string
	for _, one := range file.Profiles {
		names = append(names, one.Name+" "+one.Unit)
	}
	if want := []string{"node 9/9 nanoseconds", "node worker 9/11 nanoseconds", "helper 20/20 nanoseconds"}; !reflect.DeepEqual(names, want) {
		t.Errorf("got %q; want %q: the thread with the most samples first", names, want)
	}
	// In the order of time, the two samples with the same stack are neighbours.
	if got, want := file.Profiles[0].Weights, []float64{2e6, 1e6, 1e6}; !reflect.DeepEqual(got, want) {
		t.Errorf("got weights %v; want %v", got, want)
	}
	var stack []string
	for _, frame := range file.Profiles[0].Samples[0] {
		f := file.Shared.Frames[frame]
		stack = append(stack, f.Name+" "+f.File)
	}
	if want := []string{"main /usr/bin/node", "run /src/x.js", "add /src/lib.js", "add /src/lib.js"}; !reflect.DeepEqual(stack, want) {
		t.Errorf("got %q; want %q: outermost first, with inlined calls", stack, want)
	}
	// Both versions of run are the same function.
	if a, b := file.Profiles[0].Samples[0][1], file.Profiles[0].Samples[1][1]; a != b || file.Shared.Frames[a].Line != 3 {
		t.Errorf("got frames %d and %d, line %d; want one frame, line 3", a, b, file.Shared.Frames[a].Line)
	}
	if file.Name != recorded().Recording.Command || file.Exporter != "jitinject 1.2.3" || file.ActiveProfileIndex != 0 {
		t.Errorf("got %q, %q, %d", file.Name, file.Exporter, file.ActiveProfileIndex)
	}
}

func TestSpeedscope_SeveralEvents(t *testing.T) {
	p := recorded()
	p.Events = []string{"cpu-clock:u", "page-faults"}
	p.Samples[1].Event, p.Samples[1].Period = 1, 0
	p.Samples[3].Event, p.Samples[3].Period = 1, math.MaxUint32
	file := readSpeedscope(t, p)
	found := false
	for _, one := range file.Profiles {
		if one.Name == "node 9/9 page-faults" {
			found = true
			if one.Unit != "none" || one.EndValue != math.MaxUint32+1 || len(one.Samples) != 1 {
				t.Errorf("got %s, %v, %d samples; want none, %d, 1", one.Unit, one.EndValue, len(one.Samples), math.MaxUint32+1)
			}
		}
	}
	if !found {
		t.Errorf("got %+v; want a profile of the page faults", file.Profiles)
	}
}

func TestSpeedscope_HostileNames(t *testing.T) {
	file := readSpeedscope(t, hostile())
	for i, f := range file.Shared.Frames[:2] {
		if f.Name != hostileNames[i] || (f.File != hostileNames[i] && f.Name != "") {
			t.Errorf("got %q in %q; want %q", f.Name, f.File, hostileNames[i])
		}
	}
	if got := file.Shared.Frames[7].Name; got != hostileNames[7] {
		t.Errorf("got a name of %d bytes; want %d", len(got), len(hostileNames[7]))
	}
}
