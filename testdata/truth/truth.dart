// Functions of many shapes. Each spends its time on one line, which a comment marks: see
// internal/truth. Dart's dump has the lines of its compiler's listings.
// dart --generate-perf-jitdump truth.dart [MILLISECONDS for each function]
import 'dart:typed_data';

import 'other.dart';

const N = 20000;

int declared(int n) {
  var s = 1;
  for (var i = 0; i < n; i++) s = (s * 31 + (i ^ s >> 3)) & 0xffff; // hot: ::_declared*
  return s;
}

int whiled(int n) {
  var s = 2;
  while (n-- > 0) s = (s * 33 + (n ^ s >> 3)) & 0xffff; // hot: ::_whiled*
  return s;
}

int recursive(int n) {
  if (n <= 0) return 0;
  var s = 3;
  for (var i = 0; i < 2000; i++) s = (s * 35 + (i ^ s >> 3)) & 0xffff; // hot: ::_recursive*
  return s ^ recursive(n - 2000);
}

double floats(int n) {
  var s = 0.5;
  for (var i = 0; i < n; i++) s = s * 0.999 + 0.25; // hot: ::_floats*
  return s;
}

int lists(Uint8List bytes, int n) {
  var s = 4;
  for (var i = 0; i < n; i++) s = (s * 37 + bytes[i & 63]) & 0xffff; // hot: ::_lists*
  return s;
}

int texts(int n) {
  const text = 'abcdefgh';
  var s = 5;
  for (var i = 0; i < n; i++) s = (s * 39 + text.codeUnitAt(i & 7)) & 0xffff; // hot: ::_texts*
  return s;
}

int switched(int n) {
  var s = 6;
  for (var i = 0; i < n; i++) switch (s & 3) { case 0: s += i & 7 | 1; case 1: s = 3 * (s & 0xfff) + 7; default: s = (s * 7 - 5) & 0xffff; } // hot: ::_switched*
  return s;
}

int caught(int n) {
  var s = 7;
  try {
    for (var i = 0; i < n; i++) s = (s * 41 + (i ^ s >> 3)) & 0xffff; // hot: ::_caught*
    throw s;
  } on int catch (kept) {
    return kept;
  } finally {
    s--;
  }
}

int named(int n, {int more = 8}) {
  var s = more;
  for (var i = 0; i < n; i++) s = (s * 43 + (i ^ s >> 3)) & 0xffff; // hot: ::_named*
  return s;
}

T generic<T>(T start, T Function(T) next, int n) {
  var s = start;
  for (var i = 0; i < n; i++) s = next(s); // hot: ::_generic*
  return s;
}

int Function(int) adder(int k) {
  int closure(int n) {
    for (var i = 0; i < n; i++) k = (k * 45 + (i ^ k >> 3)) & 0xffff; // hot: ::_adder_closure
    return k;
  }
  return closure;
}

Iterable<int> generator(int n) sync* {
  var s = 9;
  for (var i = 0; i < n; i++) s = (s * 47 + (i ^ s >> 3)) & 0xffff; // hot: ::_generator*
  yield s;
}

Future<int> asynchronous(int n) async {
  var s = 10;
  await null;
  for (var i = 0; i < n; i++) s = (s * 49 + (i ^ s >> 3)) & 0xffff; // hot: ::_asynchronous*
  return s;
}

class Point {
  int x = 0;

  Point(int n) {
    var s = 12;
    for (var i = 0; i < n; i++) s = (s * 53 + (i ^ s >> 3)) & 0xffff; // hot: Point_Point.
    x = s;
  }

  factory Point.made(int n) {
    var s = 13;
    for (var i = 0; i < n; i++) s = (s * 55 + (i ^ s >> 3)) & 0xffff; // hot: Point_Point.made
    return Point(s & 1);
  }

  static int still(int n) {
    var s = 14;
    for (var i = 0; i < n; i++) s = (s * 57 + (i ^ s >> 3)) & 0xffff; // hot: Point_still*
    return s;
  }

  int method(int n) {
    var s = x;
    for (var i = 0; i < n; i++) s = (s * 59 + (i ^ s >> 3)) & 0xffff; // hot: Point_method*
    return s;
  }

  int get read {
    var s = x;
    for (var i = 0; i < N; i++) s = (s * 61 + (i ^ s >> 3)) & 0xffff; // hot: Point_get_read
    return s;
  }

  set written(int n) {
    var s = x;
    for (var i = 0; i < n; i++) s = (s * 63 + (i ^ s >> 3)) & 0xffff; // hot: Point_set_written
    x = s;
  }

  int operator -(int n) {
    var s = x;
    for (var i = 0; i < n; i++) s = (s * 65 + (i ^ s >> 3)) & 0xffff; // hot: Point_-
    return s;
  }
}

extension Extended on int {
  int get extended {
    var s = 15;
    for (var i = 0; i < this; i++) s = (s * 67 + (i ^ s >> 3)) & 0xffff; // hot: extended
    return s;
  }
}

Future<void> main(List<String> args) async {
  final bytes = Uint8List(64), point = Point(1);
  final closure = adder(3);
  final functions = <Function(int)>[
    declared, whiled, recursive, floats, (n) => lists(bytes, n), texts, switched, caught, named,
    (n) => generic<int>(1, (s) => s * 69 & 0xffff, n), closure, (n) => generator(n).first, asynchronous,
    Point.new, Point.made, Point.still, point.method, (n) => point.read, (n) => point.written = n, (n) => point - n,
    (n) => n.extended, square, inlining,
  ];
  final milliseconds = args.isEmpty ? 40 : int.parse(args[0]);
  for (final f in functions) {
    final watch = Stopwatch()..start();
    while (watch.elapsedMilliseconds < milliseconds) {
      final result = f(N);
      if (result is Future) await result;
    }
  }
  print('${functions.length} functions');
}
