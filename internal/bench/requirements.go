package main

import (
	"fmt"
	"strings"
)

// A requirement is something that must be true of a contest.
type requirement struct {
	contest   string
	who, whom string  // contestants; whom is "" where memory is limited
	bound     float64 // how many times faster, or as long, or MB
	kind      string
}

// kinds of requirements, by their texts.
const (
	faster    = "%g times faster"         // who is so many times faster than whom, at least
	within    = "within %g times as long" // who takes so many times as long as whom, at the most
	megabytes = "below %g MB"             // who needs so much memory at the most
)

var requirements = []requirement{
	{"erlang", byDefault, withoutCache, 5, faster},
	{"erlang", byDefault, perfInject, 15, faster},
	{"functions", byDefault, withoutCache, 5, faster},
	{"functions", byDefault, perfInject, 15, faster},
	{"erlang-disk", byDefault, withoutCache, 2.5, faster},
	{"erlang-disk", byDefault, perfInject, 8, faster},
	{"functions-disk", byDefault, withoutCache, 2.5, faster},
	{"functions-disk", byDefault, perfInject, 8, faster},
	{"erlang", withoutSync, plainLoop, 1.4, within},
	{"erlang", byDefault, plainSynced, 1.5, within},
	{"functions", withoutSync, plainLoop, 1.3, within},
	{"functions", byDefault, plainSynced, 1.5, within},
	{"erlang-disk", withoutSync, plainLoop, 1.4, within},
	{"erlang-disk", byDefault, plainSynced, 1.5, within},
	{"functions-disk", withoutSync, plainLoop, 1.4, within},
	{"functions-disk", byDefault, plainSynced, 1.5, within},
	{"erlang", again, byDefault, 1.2, within},
	{"functions", again, byDefault, 1.2, within},
	{"erlang", sampled, perfInject, 100, faster},
	{"functions", bundle, withoutCache, 20, faster},
	{"functions", sampled, withoutCache, 35, faster},
	{"functions", byDefault, "", 64, megabytes},
	{"functions", bundle, "", 64, megabytes},
	{"tiny", withoutSync, plainLoop, 1.3, within},
	{"tiny", bundle, withoutCache, 20, faster},
	{"tiny", sampled, withoutCache, 35, faster},
	{"tiny", byDefault, "", 64, megabytes},
	{"long", withoutSync, copying, 1.5, within},
	{"long", bundle, copying, 2, within},
	{"long", sampled, copying, 2, within},
	{"long-disk", byDefault, copyingSynced, 1.5, within},
	{"long", byDefault, "", 100, megabytes},
	{"readers-erlang", sourceLines + bundle, sourceLines + perfInject, 5, faster},
	{"readers-functions", sourceLines + bundle, sourceLines + perfInject, 5, faster},
	{"xray", withXRay, llvmConvert, 5, faster},
	{"xray-large", withXRay, "", 200, megabytes},
}

// requirementsOf counts what is required, and returns a table of what was not met in the contests that were
// held, by the names of their sections.
func requirementsOf(held map[string]contest) string {
	var rows []string
	checked := 0
	for _, r := range requirements {
		if held[r.contest] == nil {
			continue
		}
		checked++
		if measured, met := r.check(held[r.contest]); !met {
			what := strings.TrimSuffix(r.who+" : "+r.whom, " : ")
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", r.contest, what, fmt.Sprintf(r.kind, r.bound), measured))
		}
	}
	text := fmt.Sprintf("Of %d, %d were measured, and %d of these are not met.\n", len(requirements), checked, len(rows))
	if len(rows) > 0 {
		text += "\n| recording | | required | measured |\n|---|---|---:|---:|\n" + strings.Join(rows, "")
	}
	return text
}

// check returns what was measured in a contest that was held, and whether r is met.
func (r *requirement) check(c contest) (measured string, met bool) {
	switch who, whom := c.find(r.who), c.find(r.whom); {
	case who == nil || whom == nil && r.kind != megabytes: // XRay's tool may not be installed
		return "not measured", true
	case r.kind == faster:
		v := ratio(whom, who)
		return fmt.Sprintf("%.1f times faster", v), v >= r.bound
	case r.kind == within:
		v := ratio(who, whom)
		return fmt.Sprintf("%.2f times as long", v), v <= r.bound
	default:
		return fmt.Sprintf("%.0f MB", who.peak), who.peak < r.bound
	}
}
