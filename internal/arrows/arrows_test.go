package arrows

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/jitinject/jitinject/"

// allowed says what each package may import, beside the standard library. Data
// flows from the codecs through source, jitcode and jitobj to the writers; see
// ARCHITECTURE.md.
var allowed = map[string][]string{
	// Bytes.
	"internal/wire": {},

	// Below all.
	"internal/sorting": {},

	// Codecs: one format each, no meaning.
	"jitdump":                   {"internal/sorting", "internal/wire"},
	"perfdata":                  {"github.com/klauspost/compress/zstd", "internal/wire"},
	"internal/elfcore":          {"internal/format/elffile", "internal/sorting", "internal/wire"},
	"internal/format/xrayfdr":   {"internal/wire"},
	"internal/format/monolog":   {"internal/wire"},
	"internal/format/v8log":     {"internal/wire"},
	"internal/format/sourcemap": {"internal/sorting"},
	"internal/format/gdbjit":    {},
	"internal/format/perfmap":   {"internal/wire"},
	"internal/format/j9meta":    {"internal/safefile", "internal/safefile/sys", "internal/sorting", "internal/wire"},
	"internal/format/callframe": {"internal/wire"},
	"internal/format/dwarfdata": {"internal/wire"},
	"internal/format/elffile":   {"github.com/klauspost/compress/zstd", "internal/format/dwarfdata", "internal/wire"},
	"internal/format/jitelf":    {"internal/ehframe", "internal/format/dwarfdata", "internal/format/elffile", "internal/jitcode", "internal/sorting", "internal/wire"},

	// Writers: one standard each, no JITs.
	"elfgen":   {"internal/wire"},
	"dwarfgen": {"internal/sorting", "internal/wire"},

	// Meaning.
	"internal/jitcode":        {},
	"internal/mangled":        {"github.com/ianlancetaylor/demangle"},
	"internal/tier":           {},
	"internal/calls":          {},
	"internal/disasm":         {"golang.org/x/arch/x86/x86asm", "internal/cfi", "internal/jitcode"},
	"internal/source":         {"internal/jitcode"},
	"internal/source/memcode": {"internal/cfi", "internal/disasm", "internal/jitcode", "internal/source"},
	// Rooms below the engine's: what a format means, without a recording.
	"internal/runtime/openj9/metadata": {"internal/format/j9meta", "internal/jitcode", "internal/sorting", "internal/source", "internal/wire", "jitdump"},
	"internal/runtime/jitdump/hotspot": {"internal/cfi", "internal/jitcode"},
	"internal/runtime/jitdump":         {"internal/cfi", "internal/disasm", "internal/ehframe", "internal/format/j9meta", "internal/jitcode", "internal/runtime/jitdump/hotspot", "internal/runtime/openj9/metadata", "internal/sorting", "internal/source", "internal/tier", "internal/wire", "jitdump"},
	"internal/xraymap":                 {"internal/format/elffile", "internal/mangled", "internal/sorting"},
	"internal/ehframe":                 {"internal/format/callframe", "internal/jitcode", "internal/sorting", "internal/wire"},
	"internal/cfi":                     {"internal/ehframe", "internal/format/callframe", "internal/jitcode"},
	"internal/jitobj":                  {"dwarfgen", "elfgen", "internal/format/elffile", "internal/jitcode", "internal/mangled", "internal/wire"},

	// What debug/dwarf does not check.

	// The stages of the engine, in the direction of data, and the engine.
	"internal/quote":                     {},
	"internal/addrs":                     {"internal/sorting"},
	"internal/safefile/sys":              {"golang.org/x/sys/unix"},
	"internal/safefile":                  {"golang.org/x/sys/unix", "internal/quote", "internal/safefile/sys", "perfdata"},
	"internal/perfcache":                 {"golang.org/x/sys/unix", "internal/safefile", "internal/safefile/sys"},
	"internal/report":                    {"golang.org/x/sys/unix", "internal/quote"},
	"internal/config":                    {"internal/quote", "internal/report"},
	"internal/recording":                 {"golang.org/x/sys/unix", "internal/addrs", "internal/config", "internal/format/elffile", "internal/quote", "internal/report", "internal/safefile", "internal/safefile/sys", "internal/sorting", "jitdump", "perfdata"},
	"internal/perfsample":                {"perfdata"},
	"internal/samplerefs":                {"internal/addrs", "internal/perfsample", "internal/recording", "internal/report", "perfdata"},
	"internal/known":                     {"internal/format/elffile", "internal/quote", "internal/recording", "internal/safefile", "internal/safefile/sys", "internal/wire"},
	"internal/record":                    {"golang.org/x/sys/unix", "internal/dumptail", "internal/format/v8log", "internal/nearest", "internal/procmem", "internal/quote", "internal/safefile", "internal/safefile/sys", "jitdump", "perfdata"},
	"internal/export":                    {"internal/profile", "internal/sorting", "internal/tier"},
	"internal/model":                     {"golang.org/x/sys/unix", "internal/addrs", "internal/jitcode", "internal/jitobj", "internal/procmem", "internal/quote", "internal/recording", "internal/report", "internal/safefile/sys", "internal/source"},
	"internal/procmem":                   {"golang.org/x/sys/unix", "internal/elfcore", "internal/format/elffile", "internal/safefile/sys"},
	"internal/dumptail":                  {"golang.org/x/sys/unix", "internal/elfcore", "internal/procmem", "internal/safefile", "internal/safefile/sys", "internal/sorting", "jitdump"},
	"internal/codebytes":                 {"golang.org/x/sys/unix", "internal/addrs", "internal/config", "internal/elfcore", "internal/format/elffile", "internal/jitcode", "internal/model", "internal/procmem", "internal/quote", "internal/recording", "internal/report", "internal/safefile", "internal/safefile/sys", "internal/sorting", "internal/source"},
	"internal/clock":                     {"internal/config", "internal/jitcode", "internal/model", "internal/quote", "internal/recording", "internal/report", "internal/sorting", "internal/source", "perfdata"},
	"internal/locate":                    {"golang.org/x/sys/unix", "internal/clock", "internal/codebytes", "internal/config", "internal/dumptail", "internal/model", "internal/procmem", "internal/quote", "internal/recording", "internal/report", "internal/safefile", "internal/safefile/sys", "internal/source", "jitdump", "perfdata"},
	"internal/runtime/mono":              {"internal/calls", "internal/codebytes", "internal/config", "internal/format/monolog", "internal/jitcode", "internal/known", "internal/locate", "internal/model", "internal/quote", "internal/recording", "internal/report", "internal/safefile", "internal/safefile/sys", "internal/sorting", "internal/source", "internal/source/memcode", "internal/wire", "perfdata"},
	"internal/runtime/openj9":            {"internal/clock", "internal/config", "internal/format/j9meta", "internal/jitcode", "internal/locate", "internal/quote", "internal/recording", "internal/report", "internal/runtime/jitdump", "internal/runtime/openj9/metadata", "internal/safefile", "internal/safefile/sys", "internal/sorting", "internal/source", "internal/source/memcode", "internal/wire", "jitdump"},
	"internal/runtime/perfmap":           {"internal/addrs", "internal/config", "internal/format/perfmap", "internal/jitcode", "internal/known", "internal/locate", "internal/model", "internal/quote", "internal/recording", "internal/report", "internal/safefile", "internal/safefile/sys", "internal/sorting", "internal/source", "internal/source/memcode", "internal/wire"},
	"internal/runtime/gdbjit/registered": {"internal/elfcore", "internal/format/elffile", "internal/format/gdbjit", "internal/format/jitelf", "internal/procmem", "internal/safefile/sys", "internal/sorting", "internal/wire"},
	"internal/runtime/v8":                {"golang.org/x/sys/unix", "internal/config", "internal/format/sourcemap", "internal/format/v8log", "internal/jitcode", "internal/locate", "internal/model", "internal/quote", "internal/recording", "internal/report", "internal/runtime/jitdump", "internal/runtime/v8/stays", "internal/safefile", "internal/safefile/sys", "internal/sorting", "internal/source", "internal/source/memcode", "jitdump"},
	"internal/runtime/v8/stays":          {"internal/addrs", "internal/jitcode", "internal/recording", "internal/sorting"},
	"internal/runtime/gdbjit":            {"internal/codebytes", "internal/format/gdbjit", "internal/format/jitelf", "internal/jitcode", "internal/locate", "internal/procmem", "internal/quote", "internal/recording", "internal/report", "internal/runtime/gdbjit/registered", "internal/safefile/sys", "internal/sorting", "internal/source", "internal/source/memcode"},
	"internal/runtime/xray":              {"golang.org/x/sys/unix", "internal/calls", "internal/clock", "internal/codebytes", "internal/config", "internal/format/xrayfdr", "internal/model", "internal/quote", "internal/recording", "internal/report", "internal/safefile", "internal/safefile/sys", "internal/sorting", "internal/source", "internal/wire", "internal/xraymap"},
	"internal/merge":                     {"github.com/ianlancetaylor/demangle", "internal/addrs", "internal/jitcode", "internal/mangled", "internal/model", "internal/quote", "internal/recording", "internal/report", "internal/sorting", "internal/source"},
	"internal/attribution":               {"internal/jitcode", "internal/model", "internal/recording"},
	"internal/plan":                      {"internal/addrs", "internal/attribution", "internal/calls", "internal/codebytes", "internal/config", "internal/jitcode", "internal/jitobj", "internal/model", "internal/plan/gaps", "internal/quote", "internal/recording", "internal/report", "internal/samplerefs", "internal/sorting", "internal/source"},
	"internal/plan/gaps":                 {"internal/addrs", "internal/model", "internal/recording"},
	"internal/unwind":                    {"internal/codebytes", "internal/config", "internal/jitcode", "internal/model", "internal/quote", "internal/recording", "internal/report", "internal/source"},
	"internal/count":                     {"internal/addrs", "internal/jitcode", "internal/mangled", "internal/model", "internal/perfsample", "internal/quote", "internal/recording", "internal/report", "internal/sorting", "internal/source", "internal/tier", "internal/words", "perfdata"},
	"internal/objstore":                  {"golang.org/x/sync/errgroup", "golang.org/x/sys/unix", "internal/config", "internal/format/elffile", "internal/model", "internal/perfcache", "internal/quote", "internal/recording", "internal/report", "internal/safefile", "internal/safefile/sys", "internal/sorting", "internal/source", "perfdata"},
	"internal/fetch":                     {"golang.org/x/sync/errgroup", "golang.org/x/sys/unix", "internal/addrs", "internal/config", "internal/format/elffile", "internal/perfcache", "internal/quote", "internal/recording", "internal/report", "internal/safefile", "internal/safefile/sys", "internal/samplerefs", "internal/sorting", "perfdata"},
	"internal/build":                     {"golang.org/x/sync/errgroup", "internal/config", "internal/jitcode", "internal/jitobj", "internal/model", "internal/objstore", "internal/quote", "internal/recording", "internal/report", "internal/safefile", "internal/sorting", "internal/source"},
	"internal/output":                    {"golang.org/x/sys/unix", "internal/config", "internal/model", "internal/quote", "internal/recording", "internal/report", "internal/safefile", "internal/safefile/sys", "perfdata"},
	"internal/calltrace":                 {"internal/calls", "internal/clock", "internal/codebytes", "internal/config", "internal/model", "internal/output", "internal/quote", "internal/recording", "internal/report", "perfdata"},
	"internal/rewrite":                   {"golang.org/x/sys/unix", "internal/addrs", "internal/calltrace", "internal/jitobj", "internal/model", "internal/output", "internal/recording", "internal/report", "perfdata"},
	"internal/diagnose":                  {"internal/clock", "internal/codebytes", "internal/config", "internal/count", "internal/known", "internal/locate", "internal/model", "internal/quote", "internal/recording", "internal/report", "internal/safefile", "internal/safefile/sys", "internal/sorting", "internal/words"},
	"internal/profile":                   {"github.com/ianlancetaylor/demangle", "internal/addrs", "internal/config", "internal/format/dwarfdata", "internal/format/elffile", "internal/known", "internal/mangled", "internal/perfcache", "internal/quote", "internal/recording", "internal/safefile", "internal/safefile/sys", "internal/sorting", "internal/tier", "internal/words", "perfdata"},
	"internal/formats":                   {"golang.org/x/sys/unix", "internal/calltrace", "internal/codebytes", "internal/locate", "internal/runtime/gdbjit", "internal/runtime/jitdump", "internal/runtime/mono", "internal/runtime/openj9", "internal/runtime/perfmap", "internal/runtime/v8", "internal/runtime/xray", "internal/safefile", "internal/safefile/sys", "perfdata"},
	"internal/engine":                    {"golang.org/x/sys/unix", "internal/build", "internal/calls", "internal/calltrace", "internal/clock", "internal/codebytes", "internal/config", "internal/count", "internal/diagnose", "internal/formats", "internal/known", "internal/locate", "internal/merge", "internal/model", "internal/objstore", "internal/output", "internal/plan", "internal/quote", "internal/recording", "internal/report", "internal/rewrite", "internal/safefile", "internal/safefile/sys", "internal/source", "internal/unwind", "perfdata"},
	"inject":                             {"internal/clock", "internal/config", "internal/engine", "internal/formats", "internal/objstore", "internal/report"}, // public names

	// dump shows files: a core without formats, packages that several formats share,
	// and one for each format. Only jitdumps contain another format.
	"internal/show":             {"golang.org/x/sys/unix", "internal/quote", "internal/safefile", "internal/safefile/sys", "internal/wire"},
	"internal/show/listing":     {"golang.org/x/arch/arm/armasm", "golang.org/x/arch/arm64/arm64asm", "golang.org/x/arch/loong64/loong64asm", "golang.org/x/arch/ppc64/ppc64asm", "golang.org/x/arch/riscv64/riscv64asm", "golang.org/x/arch/s390x/s390xasm", "golang.org/x/arch/x86/x86asm", "internal/cfi", "internal/jitcode", "internal/show", "internal/sorting"},
	"internal/show/frames":      {"internal/format/callframe", "internal/show"},
	"internal/show/showj9":      {"internal/format/j9meta", "internal/runtime/openj9", "internal/runtime/openj9/metadata", "internal/show", "jitdump"},
	"internal/show/showjitdump": {"internal/ehframe", "internal/format/callframe", "internal/format/j9meta", "internal/runtime/jitdump", "internal/show", "internal/show/frames", "internal/show/listing", "internal/show/showj9", "jitdump"},
	"internal/show/showmap":     {"internal/format/perfmap", "internal/show", "internal/wire"},
	"internal/show/showmono":    {"internal/format/monolog", "internal/show"},
	"internal/show/showv8":      {"internal/format/v8log", "internal/show"},
	"internal/show/showxray":    {"internal/format/elffile", "internal/format/xrayfdr", "internal/runtime/xray", "internal/safefile/sys", "internal/show", "internal/xraymap"},
	"internal/show/showgdbjit":  {"internal/elfcore", "internal/format/gdbjit", "internal/jitcode", "internal/runtime/gdbjit/registered", "internal/safefile/sys", "internal/show", "internal/show/listing"},

	"internal/formats/display": {"internal/formats", "internal/runtime/gdbjit", "internal/runtime/jitdump", "internal/runtime/mono", "internal/runtime/openj9", "internal/runtime/perfmap", "internal/runtime/v8", "internal/runtime/xray", "internal/show", "internal/show/showgdbjit", "internal/show/showj9", "internal/show/showjitdump", "internal/show/showmap", "internal/show/showmono", "internal/show/showv8", "internal/show/showxray", "perfdata"},

	// Views: the model of samples, and the page made from it.
	"internal/view": {"internal/profile", "internal/quote", "internal/safefile", "internal/sorting", "internal/tier", "internal/words"},

	// The command on top of it.
	"internal/addr2line":  {"golang.org/x/sys/unix"}, // started hundreds of times
	"internal/perfrun":    {"golang.org/x/sys/unix", "internal/addr2line", "internal/terminal"},
	"internal/completion": {}, // it knows shells, and no options of ours
	"internal/manual":     {},
	"internal/messages":   {},
	"internal/nearest":    {},
	"internal/stdio":      {"golang.org/x/sys/unix", "internal/safefile/sys"},
	"internal/terminal":   {"golang.org/x/sys/unix"},
	"internal/words":      {},
	"internal/summary":    {"internal/formats", "internal/quote", "internal/report", "internal/sorting", "internal/words"},
	"cmd/jitinject":       {"github.com/spf13/pflag", "golang.org/x/sys/unix", "internal/addr2line", "internal/clock", "internal/completion", "internal/config", "internal/engine", "internal/export", "internal/fetch", "internal/formats", "internal/formats/checks", "internal/formats/display", "internal/known", "internal/manual", "internal/nearest", "internal/objstore", "internal/output", "internal/perfcache", "internal/perfrun", "internal/profile", "internal/quote", "internal/record", "internal/report", "internal/safefile", "internal/safefile/sys", "internal/show", "internal/stdio", "internal/summary", "internal/terminal", "internal/verify", "internal/verify/printed", "internal/view", "internal/words"},
	// A second opinion about what comes out: it reads, and knows no writer.
	"internal/verify":                {"internal/safefile/sys", "internal/wire", "internal/words"}, // the core knows no format
	"internal/verify/jitted":         {"internal/addrs"},
	"internal/verify/printed":        {"internal/formats", "internal/quote", "internal/report", "internal/safefile/sys", "internal/terminal", "internal/verify", "internal/words"},
	"internal/verify/ehframe":        {"internal/format/callframe", "internal/sorting"},
	"internal/verify/recorded":       {"internal/safefile/sys", "internal/verify", "internal/verify/jitted", "perfdata"},
	"internal/verify/checkobject":    {"internal/format/callframe", "internal/format/dwarfdata", "internal/format/elffile", "internal/sorting", "internal/verify", "internal/verify/ehframe", "internal/verify/jitted", "internal/words"},
	"internal/verify/checkrecording": {"internal/safefile/sys", "internal/sorting", "internal/verify", "internal/verify/checkobject", "internal/verify/jitted", "internal/verify/recorded", "internal/words", "perfdata"},
	"internal/verify/checkdump":      {"internal/format/callframe", "internal/jitcode", "internal/runtime/jitdump", "internal/safefile/sys", "internal/sorting", "internal/source", "internal/verify", "internal/verify/checkproducer", "internal/verify/ehframe", "internal/verify/jitted", "internal/verify/recorded", "internal/words", "jitdump", "perfdata"},
	"internal/verify/checkproducer":  {"internal/jitcode", "internal/safefile/sys", "internal/verify", "internal/words"},
	"internal/verify/checkmap":       {"internal/format/perfmap", "internal/verify", "internal/verify/jitted", "internal/verify/recorded", "internal/wire", "internal/words"},
	"internal/verify/checkgdbjit":    {"internal/elfcore", "internal/format/gdbjit", "internal/runtime/gdbjit/registered", "internal/sorting", "internal/verify", "internal/wire", "internal/words"},

	"internal/formats/checks": {"internal/formats", "internal/runtime/jitdump", "internal/runtime/mono", "internal/runtime/openj9", "internal/runtime/perfmap", "internal/runtime/v8", "internal/runtime/xray", "internal/safefile/sys", "internal/verify", "internal/verify/checkdump", "internal/verify/checkgdbjit", "internal/verify/checkmap", "internal/verify/checkobject", "internal/verify/checkrecording"},

	// For tests and benchmarks. What testrec makes and reads is a second opinion,
	// so it must not know ours.
	"internal/arrows":                 {},
	"internal/format/j9meta/j9gen":    {"internal/format/j9meta", "internal/wire"},
	"internal/format/monolog/monogen": {"internal/format/monolog", "internal/wire"},
	"internal/format/xrayfdr/xraygen": {"internal/format/xrayfdr", "internal/wire"},
	"internal/testrec":                {"github.com/klauspost/compress/zstd", "golang.org/x/sys/unix"},
	"internal/testrec/skeleton":       {},
	"internal/testrec/unpack":         {"internal/testrec"},
	"internal/testrec/make":           {"internal/testrec"},
	"internal/bench":                  {"internal/testrec"},
	"internal/hostile":                {},
	"internal/trials":                 {}, // tests only: the built command records
	"internal/cost":                   {},
	"internal/faults":                 {"golang.org/x/sys/unix", "internal/safefile/sys"},
	"internal/clients":                {},
	"internal/judge":                  {},
	"internal/gate":                   {},
	"internal/show/showtest":          {"internal/format/monolog", "internal/format/monolog/monogen", "internal/format/xrayfdr", "internal/format/xrayfdr/xraygen", "internal/formats/display", "internal/show", "internal/testrec"},
	"internal/verify/verifytest":      {"internal/format/j9meta", "internal/format/j9meta/j9gen", "internal/jitcode", "internal/jitobj", "internal/testrec", "internal/verify"},
	"internal/golden":                 {},
	"internal/truth":                  {"github.com/ianlancetaylor/demangle", "internal/judge"},
	"internal/runtimes":               {"internal/judge", "internal/truth"},
	"internal/sessions":               {"internal/testrec"},
	"internal/licenses":               {},
	"internal/stepped":                {}, // tests only
	"internal/v8truth":                {}, // a second opinion on V8's logs
}

func TestImports_AllowedByTable(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		seen[pkg] = true
		policy, ok := allowed[pkg]
		if !ok {
			t.Errorf("%s: package %s is not in the table", path, pkg)
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			name = strings.TrimPrefix(name, module)
			if isStandard(name) && allowed[name] == nil {
				if name == "C" || name == "unsafe" {
					t.Errorf("%s imports %s: one static binary, no tricks with memory", path, name)
				}
				continue
			}
			if !slices.Contains(policy, name) {
				t.Errorf("%s: %s must not import %s", path, pkg, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg, policy := range allowed {
		if !seen[pkg] {
			t.Errorf("the table has a package %s that does not exist", pkg)
			continue
		}
		for _, name := range policy {
			if _, ours := allowed[name]; !ours && !strings.Contains(name, ".") {
				t.Errorf("the table allows %s to import %s, which is not in it", pkg, name)
			}
		}
		if _, err := os.Stat(filepath.Join(root, pkg, "doc.go")); err != nil && !strings.HasPrefix(pkg, "cmd/") && !strings.HasSuffix(pkg, "/unpack") {
			t.Errorf("package %s has no doc.go", pkg)
		}
	}
}

// isStandard reports whether an import path is of the standard library, whose
// first elements have no dot, or one of ours with the module's name cut off.
func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

// Programs that import package inject link nothing that only shows or checks files.
func TestInject_LinksNeitherDisplayNorChecks(t *testing.T) {
	linked := map[string]bool{}
	var link func(pkg string)
	link = func(pkg string) {
		if linked[pkg] {
			return
		}
		linked[pkg] = true
		for _, imported := range allowed[pkg] {
			link(imported)
		}
	}
	link("inject")
	for pkg := range linked {
		for _, other := range []string{"internal/show", "internal/verify", "internal/formats/"} {
			if strings.HasPrefix(pkg, other) {
				t.Errorf("inject links %s; want it only in the command", pkg)
			}
		}
	}
	if !linked["internal/formats"] || len(linked) < 40 {
		t.Errorf("got %d packages; want those of the engine", len(linked))
	}
}
