# Functions of many shapes. Each spends its time on one line, which a comment marks: see
# internal/truth. MoarVM's map has names only.
# MVM_JIT_PERF_MAP=1 raku truth.raku [MILLISECONDS for each function]
constant N = 4000;

sub declared(int $n) {
    my int $s = 1; my int $i = 0;
    while ($i = $i + 1) < $n { $s = ($s * 31 + $i) +& 0xffffff } # hot: declared
    $s
}

role Walks {
    method walk(int $n) {
        my int $s = 2; my int $i = 0;
        while ($i = $i + 1) < $n { $s = ($s * 33 + $i) +& 0xffffff } # hot: walk
        $s
    }
}

class Shape {
    method inherited(int $n) {
        my int $s = 3; my int $i = 0;
        while ($i = $i + 1) < $n { $s = ($s * 35 + $i) +& 0xffffff } # hot: inherited
        $s
    }
}

class Point is Shape does Walks {
    has int $.x;

    submethod BUILD(int :$n = 1) {
        my int $s = 4; my int $i = 0;
        while ($i = $i + 1) < $n { $s = ($s * 37 + $i) +& 0xffffff } # hot: BUILD
        $!x = $s;
    }

    method method-of(int $n) {
        my int $s = $!x; my int $i = 0;
        while ($i = $i + 1) < $n { $s = ($s * 39 + $i) +& 0xffffff } # hot: method-of
        $s
    }

    method !private(int $n) {
        my int $s = 5; my int $i = 0;
        while ($i = $i + 1) < $n { $s = ($s * 41 + $i) +& 0xffffff } # hot: private
        $s
    }

    method public(int $n) { self!private($n) }

    method FALLBACK($name, int $n) {
        my int $s = 6; my int $i = 0;
        while ($i = $i + 1) < $n { $s = ($s * 43 + $i) +& 0xffffff } # hot: FALLBACK
        $s
    }

    method CALL-ME(int $n) {
        my int $s = 7; my int $i = 0;
        while ($i = $i + 1) < $n { $s = ($s * 45 + $i) +& 0xffffff } # hot: CALL-ME
        $s
    }
}

multi sub chosen(Int $n where * > 5) {
    my int $s = 8; my int $i = 0; my int $k = $n;
    while ($i = $i + 1) < $k { $s = ($s * 47 + $i) +& 0xffffff } # hot: chosen
    $s
}
multi sub chosen(Str $n) { 0 }

sub infix:<plus>(Int $a, Int $b) {
    my int $s = 9; my int $i = 0; my int $k = $b;
    while ($i = $i + 1) < $k { $s = ($s * 49 + $i) +& 0xffffff } # hot: infix
    $s
}

sub caught(int $n) {
    my int $s = 10; my int $i = 0;
    while ($i = $i + 1) < $n { $s = ($s * 51 + $i) +& 0xffffff } # hot: caught
    try die 'thrown';
    $s
}

sub recursive(int $n) {
    return 0 if $n <= 0;
    my int $s = 11; my int $i = 0;
    while ($i = $i + 1) < 1000 { $s = ($s * 53 + $i) +& 0xffffff } # hot: recursive
    $s +^ recursive($n - 1000)
}

sub callback(int $x) {
    my int $s = $x; my int $i = 0;
    while ($i = $i + 1) < 1000 { $s = ($s * 55 + $i) +& 0xffffff } # hot: callback
    $s
}

sub higher-order(int $n) { (1, 2, 3, 4).map(&callback).sum }

sub named(int :$n, int :$factor = 57) {
    my int $s = 12; my int $i = 0;
    while ($i = $i + 1) < $n { $s = ($s * $factor + $i) +& 0xffffff } # hot: named
    $s
}

sub slurpy(*@more) {
    my int $s = 13; my int $i = 0; my int $n = @more[0];
    while ($i = $i + 1) < $n { $s = ($s * 59 + $i) +& 0xffffff } # hot: slurpy
    $s
}

sub floats(int $n) {
    my num $s = 0.5e0; my int $i = 0;
    while ($i = $i + 1) < $n { $s = $s * 0.999e0 + 0.25e0 } # hot: floats
    $s
}

sub arrays(int $n) {
    my int @a = 1, 2, 3, 4, 5, 6, 7, 8;
    my int $s = 14; my int $i = 0;
    while ($i = $i + 1) < $n { $s = ($s + @a[$i +& 7]) +& 0xffffff } # hot: arrays
    $s
}

sub untiled(int $n) {
    my int $s = 15; my int $i = $n;
    until ($i = $i - 1) < 0 { $s = ($s * 61 + $i) +& 0xffffff } # hot: untiled
    $s
}

sub looped(int $n) {
    my int $s = 16;
    loop (my int $i = 0; $i < $n; $i = $i + 1) { $s = ($s * 63 + $i) +& 0xffffff } # hot: looped
    $s
}

sub branched(int $n) {
    my int $s = 17; my int $i = 0;
    while ($i = $i + 1) < $n { $s = $s +& 1 ?? $s + $i !! ($s * 7) +& 0xffffff } # hot: branched
    $s
}

sub nested(int $n) {
    my int $s = 18; my int $i = 0; my int $k;
    while ($i = $i + 1) < 100 { $k = 0; while ($k = $k + 1) < 40 { $s = ($s * 65 + $k) +& 0xffffff } } # hot: nested
    $s
}

sub with'quote(int $n) {
    my int $s = 19; my int $i = 0;
    while ($i = $i + 1) < $n { $s = ($s * 67 + $i) +& 0xffffff } # hot: with'quote
    $s
}

sub largest(int $n) {
    my int $s = 20; my int $i = 0;
    while ($i = $i + 1) < $n { $s = $s > $i ?? $s - 3 !! $s + 7 } # hot: largest
    $s
}

module Other {
    our sub square(int $n) {
        my int $s = 21; my int $i = 0;
        while ($i = $i + 1) < $n { $s = ($s * 71 + $i * $i) +& 0xffffff } # hot: square
        $s
    }

    sub mixed-in(int $x) {
        my int $t = $x; my int $i = 0;
        while ($i = $i + 1) < 200 { $t = ($t * 73 + $i) +& 0xffffff } # hot: mixed-in, inlining
        $t
    }

    our sub inlining(int $n) {
        my int $s = 22; my int $k = 0;
        while $k < $n {
            $s = $s +^ mixed-in($s + $k);
            $k = $k + 200;
        }
        $s
    }
}

my $point = Point.new;
my @functions =
    &declared, { $point.walk($_) }, { $point.inherited($_) }, { Point.new(n => $_) }, { $point.method-of($_) },
    { $point.public($_) }, { $point.absent($_) }, { $point($_) }, { chosen($_) }, { 1 plus $_ },
    &caught, &recursive, &higher-order, { named(n => $_) }, { slurpy($_, 2) },
    &floats, &arrays, &untiled, &looped, &branched,
    &nested, &with'quote, &largest, &Other::square, &Other::inlining;
my $milliseconds = (@*ARGS[0] // 40).Int;
for @functions -> &f {
    my $limit = now + $milliseconds / 1000;
    f(N) while now < $limit;
}
say "{+@functions} functions";
