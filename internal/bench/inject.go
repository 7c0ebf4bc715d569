package main

import (
	"cmp"
	"fmt"
)

// erlang measures a real recording of many small functions.
func (b *bench) erlang(m *medium) error {
	rounds := 7
	if m.disk {
		rounds = 3
	}
	return b.inject(m, "erlang", "A real recording: Erlang's compiler made %s functions.", erlangRecording(),
		rounds, byDefault, withoutSync, again, sampled, bundle, withCFI, perfInject, withoutCache)
}

// functions measures a made-up recording of very many functions.
func (b *bench) functions(m *medium) error {
	rounds := 3
	if m.disk {
		rounds = 2
	}
	r := madeRecording(100_000)
	defer m.forget(r)
	return b.inject(m, "functions", "A made-up recording of %s functions, 450 bytes of code on average, all with source lines.", r,
		rounds, byDefault, withoutSync, again, sampled, bundle, perfInject, withoutCache)
}

// tiny measures functions of three instructions: there, most of the time passes in the file system.
func (b *bench) tiny(m *medium) error {
	r := tinyRecording(100_000)
	defer m.forget(r)
	return b.inject(m, "tiny", "A made-up recording of %s functions of three instructions, without lines.", r,
		3, byDefault, withoutSync, again, sampled, bundle, perfInject, withoutCache)
}

// inject holds a contest with a plain loop.
func (b *bench) inject(m *medium, name, what string, r recording, rounds int, contestants ...string) error {
	objects, err := b.collect(m, r)
	if err != nil {
		return err
	}
	c := &contest{recording: r, medium: m, rounds: cmp.Or(b.rounds, rounds), warm: !m.disk && len(objects) < 50_000, contestants: b.injectors(contestants...)}
	c.contestants = append(c.contestants, plainLoopOf(objects, false), plainLoopOf(objects, true))
	what = fmt.Sprintf(what, thousands(len(objects)))
	return b.show(c, name, fmt.Sprintf("%s Rounds: %d, %s.", what, c.rounds, m.name()))
}

// long measures a long recording with few functions: there, all is reading and
// writing.
func (b *bench) long(m *medium) error {
	r := longRecording(longSize)
	defer m.forget(r)
	rounds, contestants := 3, []string{byDefault, withoutSync, copying, copyingSynced}
	if m.disk { // all results stay there
		rounds = 2
	} else {
		contestants = append(contestants, perfInject, withoutCache)
	}
	c := &contest{recording: r, medium: m, rounds: cmp.Or(b.rounds, rounds), contestants: b.injectors(contestants...)}
	return b.show(c, "long", fmt.Sprintf("A recording of %d MB with few functions: node-fp, its samples repeated. Rounds: %d, %s.", longSize>>20, c.rounds, m.name()))
}

// show holds a contest, and shows its table.
func (b *bench) show(c *contest, name, text string) error {
	if err := c.hold(); err != nil {
		return err
	}
	for _, one := range c.contestants {
		one.run = nil // it may hold on to all objects
	}
	if c.medium.disk {
		name += "-disk"
	}
	b.book[name] = c
	return b.shown.section(name, text+"\n\n"+c.table())
}

// thousands writes a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
