package model

import (
	"regexp"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/recording"
)

// Every object is called as perf inject's are. Those of several functions, and second ones of an index,
// have numbers that are no index.
func TestAppendPath_Names(t *testing.T) {
	id := [jitobj.BuildIDSize]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	const most = "9223372036854775807"
	for _, c := range []struct {
		dir    string
		object Object
		want   string
	}{
		{"/o", Object{Function: &Function{Index: 7}}, "/o/jitted-9-7.so"},
		{"/tmp", Object{Function: &Function{Index: 7}}, "/tmp/jitted-9-7.so"},
		{"/o", Object{Function: &Function{Index: firstMade - 1}}, "/o/jitted-9-4611686018427387903.so"},
		{"/o", Object{Function: &Function{Index: firstMade}}, "/o/jitted-9-" + most + ".so"},
		{"/o", Object{Function: &Function{Index: 7, IsRepeated: true}}, "/o/jitted-9-" + most + ".so"},
		{"/o", Object{Function: new(Function), Bundle: new(Bundle)}, "/o/jitted-9-" + most + ".so"},
		{"/tmp", Object{Function: new(Function), Bundle: new(Bundle)}, "/tmp/./jitted-9-" + most + ".so"},
		{"/tmp", Object{Function: &Function{Index: 7, IsRepeated: true}}, "/tmp/./jitted-9-" + most + ".so"},
		{"/tmp/jitted-a", Object{Function: new(Function), Bundle: new(Bundle)}, "/tmp/./jitted-a/jitted-9-" + most + ".so"},
		{"/tmp/a", Object{Function: new(Function), Bundle: new(Bundle)}, "/tmp/a/jitted-9-" + most + ".so"},
	} {
		c.object.Dump, c.object.PID, c.object.BuildID = &Dump{Objects: c.dir}, 9, id
		got := c.object.AppendPath(nil)
		if string(got) != c.want || !regexp.MustCompile(`/jitted-\d+-\d+\.so$`).Match(got) || !recording.IsObject(got) {
			t.Errorf("got %s of %+v in %s; want %s", got, c.object, c.dir, c.want)
		}
	}
}

// An object without a mapping is not made. Another object of its dump clears its addresses.
func TestPlan_DropUnmapped(t *testing.T) {
	a, b := new(Dump), new(Dump)
	p := &Plan{
		Objects:  []Object{{Function: &Function{Dump: a, Index: 10}}, {Function: &Function{Dump: a, Index: 11}}, {Function: &Function{Dump: b, Index: 12}}, {Function: &Function{Dump: a, Index: 13}}},
		Mappings: []Mapping{{Time: 1, Object: 1}, {Time: 2, Object: 0, Clear: true}, {Time: 3, Object: 2, Clear: true}, {Time: 4, Object: 3}, {Time: 5, Object: 1, Clear: true}},
	}
	p.DropUnmapped()
	var objects, mapped []int
	for i := range p.Objects {
		objects = append(objects, int(p.Objects[i].Index))
	}
	for _, m := range p.Mappings {
		mapped = append(mapped, int(m.Time), int(m.Object))
	}
	if want := []int{11, 13}; !slices.Equal(objects, want) {
		t.Errorf("got objects %v; want %v", objects, want)
	}
	if want := []int{1, 0, 2, 1, 4, 1, 5, 0}; !slices.Equal(mapped, want) {
		t.Errorf("got times and objects of mappings %v; want %v", mapped, want)
	}
}
