// What truth.dart imports.

int square(int n) {
  var s = 16;
  for (var i = 0; i < n; i++) s = (s * 71 + (i * i & 0xff ^ s >> 3)) & 0xffff; // hot: ::_square*
  return s;
}

int mixed(int x) {
  for (var i = 0; i < 200; i++) x = (x * 73 + (i ^ x >> 3)) & 0xffff; // hot: ::_inlining*, ::_mixed*
  return x;
}

int inlining(int n) {
  var s = 17;
  for (var k = 0; k < n; k += 200) s ^= mixed(s + k);
  return s;
}
