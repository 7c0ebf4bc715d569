package clients

import (
	"fmt"
	"os"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Getenv(cacheAdd) != "" {
		if err := addToCache(os.Args[1], os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testrec.MainOnDisk(m)
}
