package tier

import "strings"

// Names of Ruby's compilers: "[JIT] inherited@/tmp/app.rb:23" of YJIT (get_iseq_name of
// yjit/src/codegen.rs), and with "ZJIT: " in front (zjit/src/perf.rs).
func ruby(symbol string) (n Name, ok bool) {
	rest, ok := strings.CutPrefix(symbol, "[JIT] ")
	if !ok {
		rest, ok = strings.CutPrefix(symbol, "ZJIT: ")
	}
	before, line, hasLine := cutNumber(rest)
	at := strings.LastIndexByte(before, '@')
	if !ok || !hasLine || at <= 0 {
		return n, false
	}
	return Name{Text: rest[:at], Tier: Optimized, File: before[at+1:], Line: line}, true
}
