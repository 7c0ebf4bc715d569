package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/manual"
)

// optionGroups are the headings of the options of the command inject, in the order of the help. Each
// option is in one group: a test checks that.
var optionGroups = []struct{ title, options string }{
	{"Common options", "input output force dump-dir sampled bundle buildid-cache strict verbose quiet"},
	{"V8 (Node.js, Deno): jitinject help v8log", "source-maps sources embed-sources"},
	{"Mono: jitinject help mono", "mono mono-aot mono-names"},
	{"OpenJ9: jitinject help openj9", "j9"},
	{"Runtimes with a perf map: jitinject help perfmap", "map"},
	{"XRay: jitinject help xray", "xray xray-binary"},
	{"Missing code and pids: jitinject help gdbjit", "code-from live pid"},
	{"Input", "dump clock"},
	{"Objects and result", "objects cfi dwarf compression-level no-sync jobs"},
	{"Messages", "summary no-count progress version help"},
	{"Compatibility", "jit"},
}

// optionBlocks returns the descriptions of a command's options: those of inject in groups.
func optionBlocks(c *subcommand) (blocks []manual.Block) {
	flags := visible(c.options())
	if c.name != "inject" {
		for _, f := range flags {
			blocks = append(blocks, optionOf(f).Block())
		}
		return blocks
	}
	byName := make(map[string]*pflag.Flag)
	for _, f := range flags {
		byName[f.Name] = f
	}
	for _, g := range optionGroups {
		blocks = append(blocks, manual.Block{Kind: manual.Subheading, Text: g.title})
		for _, name := range strings.Fields(g.options) {
			blocks = append(blocks, optionOf(byName[name]).Block())
		}
	}
	return blocks
}
