package plan

import (
	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/recording"
)

// noOwner owns addresses that code has left.
const noOwner = -1

// places have the owner of each address, for each of a dump's processes. The owners are functions.
type places = recording.Inherited[*addrs.Owners]

func newPlaces(tree *recording.ProcessTree) *places {
	return &places{Tree: tree, Make: func() *addrs.Owners { return new(addrs.Owners) }, Clone: (*addrs.Owners).Clone}
}
