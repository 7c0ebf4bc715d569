package main

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
)

const header = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: jitinject
Upstream-Contact: https://github.com/jitinject/jitinject/issues
Source: https://github.com/jitinject/jitinject
Comment:
 Written by "make copyright", from what is linked into the program. The files
 below vendor/ are those that "go mod vendor" puts there. The program also has
 parts of Go's standard library in it:
 .
%s .
 It is under the license %s, see below.

Files: *
Copyright: The jitinject authors
License: Apache-2.0

`

const apache = ` Licensed under the Apache License, Version 2.0 (the "License"); you may not use
 this file except in compliance with the License. You may obtain a copy of the
 License at http://www.apache.org/licenses/LICENSE-2.0. Unless required by
 applicable law or agreed to in writing, software distributed under the License
 is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY
 KIND, either express or implied. See the License for the specific language
 governing permissions and limitations under the License.
Comment:
 On Debian systems, the license is in /usr/share/common-licenses/Apache-2.0.
`

// writeCopyright writes a paragraph for the files of each use, and one with the terms
// of each license: modules with the same words share it.
func writeCopyright(w io.Writer, uses []use, standard use) error {
	names, order := nameLicenses(append([]use{standard}, uses...))
	b := bufio.NewWriter(w)
	var holders strings.Builder
	for _, c := range standard.copyright {
		fmt.Fprintf(&holders, " Copyright %s\n", c)
	}
	fmt.Fprintf(b, header, holders.String(), names[standard.text])
	for _, u := range uses {
		fmt.Fprintf(b, "Files: vendor/%s/*\n", path.Join(u.module, u.subdir))
		fmt.Fprintf(b, "Copyright: %s\n", strings.Join(u.copyright, "\n           "))
		fmt.Fprintf(b, "License: %s\n", names[u.text])
		fmt.Fprintf(b, "Comment: linked into jitinject, %s\n\n", u.version)
	}
	fmt.Fprintf(b, "License: Apache-2.0\n%s", apache)
	for _, text := range order {
		fmt.Fprintf(b, "\nLicense: %s\n", names[text])
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\n"); line == "" {
				line = "."
			}
			fmt.Fprintf(b, " %s\n", line)
		}
	}
	return b.Flush()
}

// major is the version at the end of a module's path.
var major = regexp.MustCompile(`/v[0-9]+$`)

// nameLicenses gives each text of terms a short name, that of its kind and of the
// first one who uses it, and says in which order they come. The Apache License has a
// name and a text of its own.
func nameLicenses(uses []use) (names map[string]string, order []string) {
	names = make(map[string]string)
	for _, u := range uses {
		if names[u.text] != "" {
			continue
		}
		if u.kind.debian == "Apache-2.0" {
			names[u.text] = u.kind.debian
			continue
		}
		name := u.kind.debian + "-" + path.Base(major.ReplaceAllString(u.module, ""))
		if u.subdir != "" {
			name += "-" + path.Base(u.subdir)
		}
		if u.kind.spdx == "Unlicense" {
			name = u.kind.debian // everywhere the same
		}
		names[u.text] = name
		order = append(order, u.text)
	}
	return names, order
}

// expression is the SPDX expression of a program's license and those of all that is
// linked into it.
func expression(uses []use) string {
	ids := []string{"Apache-2.0"}
	for _, u := range uses {
		ids = append(ids, u.kind.spdx)
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " AND ")
}
