package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fileCalls are the functions of packages os and unix that make system calls on files. In what is
// shipped, only internal/safefile/sys calls them: tests fail each call there. Standard error is written to by
// the console of cmd/jitinject, which escapes control characters.
var fileCalls = map[string][]string{
	"os":       {"Chdir", "Chmod", "Chown", "Chtimes", "CopyFS", "Create", "CreateTemp", "DirFS", "Lchown", "Link", "Lstat", "Mkdir", "MkdirAll", "MkdirTemp", "NewFile", "Open", "OpenFile", "OpenInRoot", "OpenRoot", "ReadDir", "ReadFile", "Readlink", "Remove", "RemoveAll", "Rename", "Stat", "Stderr", "Symlink", "Truncate", "WriteFile"},
	"filepath": {"EvalSymlinks", "Glob", "Walk", "WalkDir"},
	"elf":      {"Open"},
	"unix":     {"Close", "Faccessat", "Fallocate", "FcntlInt", "Fchmod", "Fchown", "Fdatasync", "Flock", "Fstat", "Fstatat", "Fstatfs", "Fsync", "Ftruncate", "Linkat", "Mkdirat", "Open", "Openat", "Openat2", "Pread", "Pwrite", "Read", "Readlinkat", "Rename", "Renameat", "Renameat2", "Stat", "Sync", "Syncfs", "Unlink", "Unlinkat", "UtimesNanoAt", "Write"},
}

// Files with calls of their own, which make no result.
var ownFileCalls = map[string]string{
	"cmd/jitinject/main.go":        "passes standard error on",
	"internal/perfrun/run.go":      "perf has the standard streams",
	"internal/locate/unread.go":    "directories that match a pattern: those that cannot be read have no matches",
	"cmd/jitinject/man.go":         "writes manual pages when a package is built",
	"internal/record/place.go":     "the directory of a recording, made before there is a result",
	"internal/record/collect.go":   "moves dumps and logs of the recorded processes",
	"internal/record/preflight.go": "reads about the system",
	"internal/record/session.go":   "the terminal, and a link for the environment",
	"internal/addr2line/real.go":   "looks for a program in PATH",
	"internal/addr2line/filter.go": "pipes to and from the real addr2line",
	"internal/addr2line/pass.go":   "pipes to and from the real addr2line",
	"internal/perfrun/filter.go":   "a temporary directory for the filter",
	"internal/fetch/find.go":       "a temporary directory for downloads",
	"internal/record/workload.go":  "the environment of the command, in memory",
	"perfdata/dir.go":              "public: it opens what its caller names, or asks the caller's fs.FS",
}

func TestFileCalls_OnlyInTheirRoom(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, top := range []string{"cmd", "inject", "internal", "perfdata", "jitdump", "elfgen", "dwarfgen"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "testdata" || isForTests(rel)) {
				return fs.SkipDir
			}
			if !d.IsDir() && strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go") && ownFileCalls[rel] == "" {
				wantNoFileCalls(t, path, rel)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// isForTests reports whether a directory has the room itself, or what is not shipped.
func isForTests(dir string) bool {
	name := filepath.Base(dir)
	return dir == "internal/safefile/sys" || name == "showtest" || name == "verifytest" || strings.HasSuffix(name, "gen") && strings.HasPrefix(dir, "internal/format/") ||
		slices.Contains([]string{"arrows", "bench", "clients", "faults", "gate", "golden", "hostile", "judge", "licenses", "pictures", "runtimes", "screen", "sessions", "stepped", "testrec", "trials", "truth"}, name)
}

func wantNoFileCalls(t *testing.T, path, rel string) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok && slices.Contains(fileCalls[pkg.Name], sel.Sel.Name) {
			t.Errorf("%s:%d: %s.%s is called; use internal/safefile/sys, where tests can fail it", rel, set.Position(sel.Pos()).Line, pkg.Name, sel.Sel.Name)
		}
		return true
	})
}
