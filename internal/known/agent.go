package known

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// agentFile is the agent for Java, and agent where make install-agent puts it.
const (
	agentFile = "libjitinject-jvmti.so"
	agent     = "/usr/local/lib/jitinject/" + agentFile
)

// InstallAgent says how to install the agent for Java.
const InstallAgent = "install the package jitinject-jvmti, or run sudo make install-agent in jitinject's source"

// FindAgent returns the path of the agent for Java: of the installation of this program, beside this
// program, or of the packages. It is "" if there is none.
func FindAgent() string {
	self, err := os.Executable()
	if err != nil {
		self = agent // no program is beside it
	}
	return findAgent(self)
}

// findAgent is FindAgent for a program. Java would split a path with spaces or =.
func findAgent(self string) string {
	bin := filepath.Dir(self)
	for _, dir := range []string{filepath.Join(bin, "../lib/jitinject"), bin, filepath.Dir(agent), "/usr/lib/jitinject"} {
		path := filepath.Join(dir, agentFile)
		if st, err := sys.Stat(path); err == nil && st.Mode().IsRegular() && quote.ShellWord(path) == path && !strings.Contains(path, "=") {
			return path
		}
	}
	return ""
}
